#include "plugin/loaded_plugin.h"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>

#include "plugin/host.h"
#include "plugin/library.h"

namespace backplane {
namespace {

/// An error of this module's own with the plugin named: the original may belong to the plugin, whose code
/// releases it.
Error own_error(const std::string& plugin, const char* what, const Error& error) {
  return Error(error.code(), "Plugin \"" + plugin + "\" failed to " + what).caused_by(Error(error));
}

}  // namespace

LoadedPlugin::LoadedPlugin(std::shared_ptr<Library> library, const PluginManifest& manifest,
                           std::unique_ptr<PluginHost> host, bool unload)
    : name_(manifest.name),
      library_(std::move(library)),
      host_(std::move(host)),
      destroy_(manifest.destroy),
      unload_(unload),
      process_(getpid()) {
  // Before any code of the plugin runs: a thread that it starts and leaves behind must not lose its code.
  if (!unload_) library_->keep_open();
}

Result<std::shared_ptr<LoadedPlugin>> LoadedPlugin::create(std::shared_ptr<Library> library,
                                                           const PluginManifest& manifest,
                                                           std::unique_ptr<PluginHost> host, bool unload) {
  std::shared_ptr<LoadedPlugin> loaded(
      new LoadedPlugin(std::move(library), manifest, std::move(host), unload));
  Result<void> error;
  loaded->plugin_ = manifest.create(loaded->host_.get(), &error);
  if (loaded->plugin_ != nullptr && error) return loaded;
  // Copied before `loaded`, and with it perhaps the library, goes.
  if (!error) return own_error(loaded->name_, "start", error.error());
  return Error(ErrorCode::plugin_load_failed,
               "Plugin \"" + loaded->name_ + "\" failed to start and did not say why.");
}

LoadedPlugin::~LoadedPlugin() {
  if (plugin_ == nullptr) return;
  if (getpid() == process_) {
    destroy_(plugin_);
  } else {
    library_->keep_open();  // a driver does not survive fork, not even to be closed: the child leaks it
  }
}

template <class Function>
auto LoadedPlugin::call(const char* what, Function&& function) -> decltype(function()) {
  if (getpid() != process_) {
    return Error(ErrorCode::forked, "Plugin \"" + name_ + "\" cannot be used in a child process after fork.");
  }
  if (caller_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    return Error(ErrorCode::re_entered,
                 "Plugin \"" + name_ + "\" was asked to " + what +
                     " from inside a call of its own; ask again when that has returned.");
  }
  const std::lock_guard lock(mutex_);
  caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  struct Leave {
    std::atomic<std::thread::id>& caller;
    ~Leave() { caller.store(std::thread::id(), std::memory_order_relaxed); }
  } const leave{caller_};
  // An exception's type means nothing across modules beyond std::exception, and its text dies with the
  // plugin.
  try {
    auto result = std::forward<Function>(function)();
    if (!result) return own_error(name_, what, result.error());
    return result;
  } catch (const std::exception& exception) {
    return own_error(name_, what, Error(ErrorCode::exception, exception.what()));
  } catch (...) {
    return own_error(name_, what,
                     Error(ErrorCode::exception, "It threw something that is no std::exception."));
  }
}

Result<std::vector<DeviceDescription>> LoadedPlugin::devices() {
  return call("list its devices", [&] { return plugin_->devices(); });
}

Result<std::unique_ptr<IServer>> LoadedPlugin::create_server(DeviceId device) {
  return call("open a device", [&]() -> Result<std::unique_ptr<IServer>> {
    auto server = plugin_->create_server(device);
    if (server && *server == nullptr) {
      return Error(ErrorCode::generic, "It returned no server and no reason.");
    }
    return server;
  });
}

Result<ICompiler*> LoadedPlugin::compiler(DeviceId device) {
  return call("hand out its compiler", [&]() -> Result<ICompiler*> {
    auto compiler = plugin_->compiler(device);
    if (compiler && *compiler == nullptr) {
      return Error(ErrorCode::generic, "It returned no compiler and no reason.");
    }
    return compiler;
  });
}

}  // namespace backplane
