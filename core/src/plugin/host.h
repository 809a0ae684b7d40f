#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <backplane/contract/host.h>
#include <backplane/contract/result.h>

#include "config/configuration.h"
#include "log/log.h"
#include "plugin/library.h"

namespace backplane {

/// What the hosts of all plugins share. Any thread; hooks are called under no lock.
class HostServices {
 public:
  using TraceHook = std::function<void(std::string_view plugin, const TraceEvent&)>;
  using RecordHook =
      std::function<void(std::string_view plugin, std::string_view kind, std::string_view json)>;

  /// `translator`: its library; empty: beside this one.
  HostServices(LogCallback callback, std::filesystem::path translator)
      : log_(std::move(callback)), translator_path_(std::move(translator)) {}

  [[nodiscard]] Log& log() noexcept { return log_; }

  /// Set once, before plugins run.
  void set_configuration(const Configuration& configuration) { configuration_ = configuration; }
  [[nodiscard]] const Configuration& configuration() const noexcept { return configuration_; }

  /// Where traces and records go; null: traces nowhere, records to the directory `environment.records`.
  void set_trace_hook(TraceHook hook);
  void set_record_hook(RecordHook hook);

  void trace(std::string_view plugin, const TraceEvent& event);
  void record(std::string_view plugin, std::string_view kind, std::string_view json);

  /// Opens the translator on the first call. A failure is not tried again: it is reported each time.
  Result<const TranslatorApi*> translator();

 private:
  [[nodiscard]] Result<const TranslatorApi*> open_translator();
  void append_record(std::string_view kind, std::string_view json);

  Log log_;
  Configuration configuration_;
  std::filesystem::path translator_path_;
  std::mutex mutex_;
  std::shared_ptr<const TraceHook> trace_hook_;
  std::shared_ptr<const RecordHook> record_hook_;
  std::mutex translator_mutex_;
  std::shared_ptr<Library> translator_library_;
  std::optional<Result<const TranslatorApi*>> translator_;
};

/// The `IHost` of one plugin, or of core itself. Any thread.
class PluginHost final : public IHost {
 public:
  /// `plugin` is its name; empty for core.
  PluginHost(std::shared_ptr<HostServices> services, std::string plugin)
      : services_(std::move(services)), plugin_(std::move(plugin)) {}

  [[nodiscard]] std::uint32_t revision() const noexcept override;
  std::shared_ptr<ILogger> logger(std::string_view category) override;
  [[nodiscard]] std::optional<std::string> config_text(std::string_view key) const override;
  [[nodiscard]] std::optional<std::int64_t> config_integer(std::string_view key) const override;
  [[nodiscard]] std::optional<bool> config_boolean(std::string_view key) const override;
  void record(std::string_view kind, std::string_view json) override;
  void trace(const TraceEvent& event) override;
  Result<const TranslatorApi*> translator() override;
  std::string stack_trace() override;

 private:
  std::shared_ptr<HostServices> services_;
  std::string plugin_;
};

/// Makes this module's errors carry stack traces where `BACKPLANE_BACKTRACE` is 1.
void enable_stack_traces(bool on) noexcept;

}  // namespace backplane
