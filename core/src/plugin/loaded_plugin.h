#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>

namespace backplane {

class Library;
class PluginHost;

/// A plugin that runs: owns the `IPlugin` and, released after everything else, its library. Whoever holds
/// something that still runs the plugin's code (a server, a deferred, bytes, a compiler) holds one of these
/// and releases it last. Any thread; calls into the plugin are serialised. A call made from inside a call of
/// the same plugin, on the same thread, is answered with `re_entered`.
class LoadedPlugin {
 public:
  /// Checks are done: makes the plugin. What its constructor throws or reports is the error, copied into this
  /// module. Blocks for as long as the constructor does.
  static Result<std::shared_ptr<LoadedPlugin>> create(std::shared_ptr<Library> library,
                                                      const PluginManifest& manifest,
                                                      std::unique_ptr<PluginHost> host, bool unload);

  LoadedPlugin(const LoadedPlugin&) = delete;
  LoadedPlugin& operator=(const LoadedPlugin&) = delete;
  ~LoadedPlugin();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// As `IPlugin`; exceptions become errors, errors belong to this module and name the plugin.
  Result<std::vector<DeviceDescription>> devices();
  Result<std::unique_ptr<IServer>> create_server(DeviceId device);
  Result<ICompiler*> compiler(DeviceId device);

 private:
  LoadedPlugin(std::shared_ptr<Library> library, const PluginManifest& manifest,
               std::unique_ptr<PluginHost> host, bool unload);

  template <class Function>
  auto call(const char* what, Function&& function) -> decltype(function());

  std::string name_;
  std::shared_ptr<Library> library_;  // first, and so released last
  std::unique_ptr<PluginHost> host_;
  void (*destroy_)(IPlugin*) noexcept;
  IPlugin* plugin_ = nullptr;
  bool unload_;
  pid_t process_;
  std::mutex mutex_;
  std::atomic<std::thread::id> caller_;
};

}  // namespace backplane
