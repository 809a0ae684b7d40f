#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <backplane/contract/result.h>
#include <backplane/runtime.h>

#include "plugin/host.h"
#include "plugin/loaded_plugin.h"
#include "plugin/manifest_file.h"
#include "plugin/search_path.h"

namespace backplane {

/// What a registry is to do with the plugins it finds.
struct RegistryOptions {
  SearchInputs search;
  std::vector<std::string> select;   ///< Globs; empty: all.
  std::vector<std::string> disable;  ///< Globs; win over `select`.
  bool allow_untrusted = false;
};

/// The plugins of one runtime: found when it is made, loaded when they are asked for, each failing alone. Any
/// thread. No lock is held while a plugin's code runs, so that code may come back here; a load that would
/// wait for itself is answered with `re_entered`.
class PluginRegistry {
 public:
  /// Searches and judges; runs no code of a plugin.
  PluginRegistry(RegistryOptions options, std::shared_ptr<HostServices> services);

  PluginRegistry(const PluginRegistry&) = delete;
  PluginRegistry& operator=(const PluginRegistry&) = delete;
  ~PluginRegistry();

  /// What is known now, in the order of the search.
  [[nodiscard]] RuntimeReport listing() const;

  /// Likewise, after loading whatever is available and asking it for its devices.
  RuntimeReport report();

  /// Names of the plugins that may be used, by falling priority, then as they were found.
  [[nodiscard]] std::vector<std::string> names_by_priority() const;

  /// The plugin of this name, loaded if it is not yet. Errors: `not_found`; `plugin_refused` with the reason
  /// it is not in use; what its first load failed with, each time; `re_entered`; `forked` in a child process.
  Result<std::shared_ptr<LoadedPlugin>> load(std::string_view name);

  /// Its devices, at least one, asked anew. Errors: as `load`; `no_device`; what the plugin answers.
  Result<std::vector<DeviceDescription>> devices(std::string_view name);

  /// As `Runtime::unload`.
  Result<void> unload(std::string_view name);

 private:
  struct Candidate {
    PluginReport report;
    std::optional<ManifestFile> manifest;  ///< None for a library named without one.
    std::shared_ptr<LoadedPlugin> plugin;
    std::optional<Error> failure;             ///< Of the first load.
    std::optional<std::thread::id> changing;  ///< The thread that loads or unloads it.
  };

  void discover(const SearchPlace& place);
  [[nodiscard]] Candidate judge(const SearchHit& hit, PluginSource source) const;
  void judge_manifest(Candidate& candidate, const std::filesystem::path& path) const;
  void judge_library(Candidate& candidate, const std::filesystem::path& path) const;
  void settle_name(Candidate& candidate) const;

  /// Lets the next candidate of a name have its turn after one before it failed. Whether there was one. Under
  /// the lock.
  bool revive_shadowed(std::string_view name);
  void log_outcome(const PluginReport& report) const;

  [[nodiscard]] Candidate* find(std::string_view name);
  Result<std::shared_ptr<LoadedPlugin>> open(const Candidate& candidate) const;
  Result<std::vector<DeviceDescription>> ask(std::string_view name);
  [[nodiscard]] bool in_child() const;

  RegistryOptions options_;
  std::shared_ptr<HostServices> services_;
  pid_t process_;
  std::vector<PluginPlace> places_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Candidate>>
      candidates_;  ///< Fixed after construction; members under the mutex.
};

}  // namespace backplane
