#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/contract/host.h>
#include <backplane/contract/result.h>
#include <backplane/runtime.h>

#include "client/device_table.h"
#include "plugin/loaded_plugin.h"

namespace backplane {

class Configuration;
class HostServices;
class PluginHost;
class PluginRegistry;

/// A device and the plugin that serves it, which stays loaded for as long as this is held.
struct SelectedDevice {
  std::shared_ptr<LoadedPlugin> plugin;
  DeviceDescription device;
};

/// What stands behind a `Runtime`: the configuration in effect, the log, and the plugins. Any thread.
class RuntimeState {
 public:
  /// As `Runtime::open`.
  static Result<std::shared_ptr<RuntimeState>> open(RuntimeOptions options);

  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;
  ~RuntimeState();

  /// The device that `selector` names, as `Runtime::device` says. Loads its plugin.
  Result<SelectedDevice> select(std::string_view selector = {});

  /// What core itself logs to and asks; the same services that plugins get.
  [[nodiscard]] IHost& host() noexcept;

  /// Behind `host()`: the log, and the hooks for traces and records.
  [[nodiscard]] HostServices& services() noexcept;

  [[nodiscard]] const Configuration& configuration() const noexcept;
  [[nodiscard]] PluginRegistry& plugins() noexcept;

  [[nodiscard]] DeviceTable& open_devices() noexcept { return *open_devices_; }

  /// As `Runtime::devices`.
  [[nodiscard]] std::vector<RuntimeDevice> devices();

 private:
  RuntimeState();
  Result<SelectedDevice> select_best();

  std::unique_ptr<Configuration> configuration_;
  std::shared_ptr<HostServices> services_;
  std::unique_ptr<PluginHost> host_;
  std::unique_ptr<PluginRegistry> plugins_;
  std::unique_ptr<DeviceTable> open_devices_;
};

}  // namespace backplane
