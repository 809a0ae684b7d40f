#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backplane/contract/result.h>
#include <backplane/runtime.h>
#include <backplane/version.h>

#include "client/device_table.h"
#include "config/configuration.h"
#include "config/key_table.h"
#include "plugin/registry.h"
#include "runtime/runtime_state.h"

namespace backplane {

std::string_view version() noexcept {
  return BACKPLANE_VERSION;
}

std::string_view to_string(PluginState state) noexcept {
  switch (state) {
    case PluginState::available:
      return "available";
    case PluginState::loaded:
      return "loaded";
    case PluginState::no_device:
      return "no device";
    case PluginState::refused:
      return "refused";
    case PluginState::shadowed:
      return "shadowed";
    case PluginState::disabled:
      return "disabled";
    case PluginState::failed:
      return "failed";
  }
  return "unknown";
}

std::string_view to_string(PluginSource source) noexcept {
  switch (source) {
    case PluginSource::code:
      return "the application";
    case PluginSource::environment:
      return "BACKPLANE_PLUGINS";
    case PluginSource::environment_added:
      return "BACKPLANE_ADD_PLUGINS";
    case PluginSource::configuration:
      return "plugin.paths";
    case PluginSource::user:
      return "the user's data directory";
    case PluginSource::install:
      return "the installation";
  }
  return "unknown";
}

Result<Runtime> Runtime::open(RuntimeOptions options) {
  BACKPLANE_TRY(std::shared_ptr<RuntimeState> state, RuntimeState::open(std::move(options)));
  return Runtime(std::move(state));
}

RuntimeReport Runtime::report() const {
  return state_->plugins().report();
}

RuntimeReport Runtime::listing() const {
  return state_->plugins().listing();
}

std::vector<RuntimeDevice> Runtime::devices() const {
  return state_->devices();
}

Result<RuntimeDevice> Runtime::device(std::string_view selector) const {
  BACKPLANE_TRY(SelectedDevice selected, state_->select(selector));
  return RuntimeDevice{.plugin = selected.plugin->name(),
                       .id = selected.device.id,
                       .properties = std::move(selected.device.properties)};
}

Result<Client> Runtime::client(std::string_view selector) const {
  BACKPLANE_TRY(const SelectedDevice selected, state_->select(selector));
  BACKPLANE_TRY(std::shared_ptr<DeviceContext> context,
                state_->open_devices().open(selected.plugin, selected.device.id));
  return Client(std::move(context));
}

Result<void> Runtime::unload(std::string_view plugin) {
  return state_->plugins().unload(plugin);
}

std::vector<ConfigurationEntry> Runtime::configuration() const {
  std::vector<ConfigurationEntry> entries;
  for (const ConfigSetting& setting : state_->configuration().settings()) {
    const ConfigKey& key = *find_config_key(setting.key);
    entries.push_back({.key = setting.key,
                       .value = to_text(key, setting.value),
                       .origin = setting.origin,
                       .description = std::string(key.description)});
  }
  return entries;
}

}  // namespace backplane
