#include "plugin/host.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <backplane/contract/error.h>
#include <backplane/contract/version.h>

#include "plugin/library.h"
#include "plugin/manifest_file.h"
#include "plugin/stack_trace.h"

namespace backplane {
namespace {

constexpr std::string_view kTranslatorName = "libbackplane_translator.so";

std::atomic<bool>& stack_traces_wanted() noexcept {
  static std::atomic<bool> wanted = false;
  return wanted;
}

/// Beside this library; in its private directory; or, where core is linked into a program, in the lib beside
/// bin.
std::filesystem::path find_translator() {
  const std::filesystem::path& core = core_directory();
  const std::array candidates{core / kTranslatorName, core / "backplane" / kTranslatorName,
                              core.parent_path() / "lib" / kTranslatorName};
  for (const std::filesystem::path& candidate : candidates) {
    std::error_code ignored;
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  }
  return candidates.front();  // the error then names the place where it belongs
}

/// One line in one write, so that lines of several processes do not mix.
Result<void> append_line(const std::filesystem::path& file, std::string_view line) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string text = std::string(line) + "\n";
  const bool written =
      descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (written) return {};
  return Error(ErrorCode::io_unknown, "A record cannot be written to \"" + file.string() +
                                          "\": " + std::generic_category().message(error) + ".");
}

}  // namespace

void HostServices::set_trace_hook(TraceHook hook) {
  auto shared = hook ? std::make_shared<const TraceHook>(std::move(hook)) : nullptr;
  const std::lock_guard lock(mutex_);
  trace_hook_.swap(shared);
}

void HostServices::set_record_hook(RecordHook hook) {
  auto shared = hook ? std::make_shared<const RecordHook>(std::move(hook)) : nullptr;
  const std::lock_guard lock(mutex_);
  record_hook_.swap(shared);
}

void HostServices::trace(std::string_view plugin, const TraceEvent& event) {
  std::shared_ptr<const TraceHook> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = trace_hook_;
  }
  if (hook != nullptr) (*hook)(plugin, event);
}

void HostServices::record(std::string_view plugin, std::string_view kind, std::string_view json) {
  std::shared_ptr<const RecordHook> hook;
  {
    const std::lock_guard lock(mutex_);
    hook = record_hook_;
  }
  if (hook != nullptr) {
    (*hook)(plugin, kind, json);
  } else {
    append_record(kind, json);
  }
}

void HostServices::append_record(std::string_view kind, std::string_view json) {
  const auto directory = configuration_.text("environment.records");
  if (!directory || !is_plugin_name(kind)) return;  // a kind becomes part of a file's name
  std::error_code failed;
  std::filesystem::create_directories(*directory, failed);
  const auto written = append_line(std::filesystem::path(*directory) / (std::string(kind) + ".jsonl"), json);
  if (!written) log_.logger("environment")->log(LogLevel::warning, written.error().message());
}

Result<const TranslatorApi*> HostServices::translator() {
  const std::lock_guard lock(translator_mutex_);
  if (!translator_) translator_ = open_translator();
  return *translator_;
}

Result<const TranslatorApi*> HostServices::open_translator() {
  const std::filesystem::path path = translator_path_.empty() ? find_translator() : translator_path_;
  BACKPLANE_TRY(std::shared_ptr<Library> library, Library::open(path));
  BACKPLANE_TRY(const TranslatorEntryPoint entry, library->translator_entry_point());
  const TranslatorApi* api = entry();
  if (api == nullptr || api->size < sizeof(TranslatorApi)) {
    return Error(ErrorCode::plugin_load_failed,
                 "The translator \"" + path.string() + "\" is older than this host; install both together.");
  }
  library->keep_open();  // LLVM does not survive being closed
  translator_library_ = std::move(library);
  return api;
}

std::uint32_t PluginHost::revision() const noexcept {
  return kInterfaceVersion.revision;
}

std::shared_ptr<ILogger> PluginHost::logger(std::string_view category) {
  return services_->log().logger(category, plugin_);
}

std::optional<std::string> PluginHost::config_text(std::string_view key) const {
  return services_->configuration().text(key);
}

std::optional<std::int64_t> PluginHost::config_integer(std::string_view key) const {
  return services_->configuration().integer(key);
}

std::optional<bool> PluginHost::config_boolean(std::string_view key) const {
  return services_->configuration().boolean(key);
}

void PluginHost::record(std::string_view kind, std::string_view json) {
  try {
    services_->record(plugin_, kind, json);
  } catch (const std::exception& exception) {
    logger("environment")->log(LogLevel::warning, std::string("A record was lost: ") + exception.what());
  }
}

void PluginHost::trace(const TraceEvent& event) {
  try {
    services_->trace(plugin_, event);
  } catch (const std::exception& exception) {
    logger("trace")->log(LogLevel::warning, std::string("A trace event was lost: ") + exception.what());
  }
}

Result<const TranslatorApi*> PluginHost::translator() {
  try {
    return services_->translator();
  } catch (const std::exception& exception) {
    return Error(ErrorCode::plugin_load_failed,
                 std::string("The translator cannot be opened: ") + exception.what());
  }
}

std::string PluginHost::stack_trace() {
  return stack_traces_wanted().load(std::memory_order_relaxed) ? current_stack_trace() : std::string();
}

void enable_stack_traces(bool on) noexcept {
  if (!on) return;  // one runtime without them takes nothing from another
  stack_traces_wanted().store(true, std::memory_order_relaxed);
  detail::take_stack_trace = current_stack_trace;
}

}  // namespace backplane
