#include "runtime/runtime_state.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backplane/contract/result.h>
#include <backplane/runtime.h>

#include "config/configuration.h"
#include "config/process_context.h"
#include "plugin/host.h"
#include "plugin/library.h"
#include "plugin/registry.h"
#include "runtime/device_selector.h"

namespace backplane {
namespace {

std::vector<std::filesystem::path> to_paths(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

/// The installation's own and, for one that lies elsewhere, the machine's.
std::vector<std::filesystem::path> system_files() {
  const std::filesystem::path below = std::filesystem::path("backplane") / "backplane.toml";
  return {std::filesystem::path(BACKPLANE_SYSTEM_CONFIGURATION_DIRECTORY) / below, "/etc" / below};
}

std::filesystem::path translator_path(const RuntimeOptions& options, const ProcessContext& process) {
  if (!options.translator.empty()) return options.translator;
  return process.variable("BACKPLANE_TRANSLATOR").value_or("");
}

RegistryOptions registry_options(RuntimeOptions options, const ProcessContext& process,
                                 const Configuration& configuration) {
  const bool allowed = process.variable("BACKPLANE_ALLOW_UNTRUSTED") == "1";
  return {.search = {.code = std::move(options.plugins),
                     .process = process,
                     .configuration = to_paths(configuration.list("plugin.paths")),
                     .core = core_directory()},
          .select = configuration.list("plugin.select"),
          .disable = configuration.list("plugin.disable"),
          .allow_untrusted = options.allow_untrusted || allowed};
}

}  // namespace

RuntimeState::RuntimeState() = default;

RuntimeState::~RuntimeState() = default;

Result<std::shared_ptr<RuntimeState>> RuntimeState::open(RuntimeOptions options) {
  const ProcessContext process = ProcessContext::current();
  enable_stack_traces(process.variable("BACKPLANE_BACKTRACE") == "1");
  BACKPLANE_TRY(Configuration configuration,
                Configuration::load(
                    {.process = process, .code = options.configuration, .system_files = system_files()}));
  std::shared_ptr<RuntimeState> state(new RuntimeState());
  state->configuration_ = std::make_unique<Configuration>(std::move(configuration));
  state->services_ =
      std::make_shared<HostServices>(std::move(options.log_callback), translator_path(options, process));
  HostServices& services = *state->services_;
  services.set_configuration(*state->configuration_);
  const auto logger = services.log().logger("config");
  BACKPLANE_CHECK(services.log().configure(*state->configuration_));
  for (const std::string& notice : state->configuration_->notices()) logger->log(LogLevel::warning, notice);
  state->host_ = std::make_unique<PluginHost>(state->services_, std::string());
  state->open_devices_ = std::make_unique<DeviceTable>(
      stream_policy(state->configuration_->text("streaming.policy").value_or("")));
  state->plugins_ = std::make_unique<PluginRegistry>(
      registry_options(std::move(options), process, *state->configuration_), state->services_);
  return state;
}

IHost& RuntimeState::host() noexcept {
  return *host_;
}

HostServices& RuntimeState::services() noexcept {
  return *services_;
}

const Configuration& RuntimeState::configuration() const noexcept {
  return *configuration_;
}

PluginRegistry& RuntimeState::plugins() noexcept {
  return *plugins_;
}

std::vector<RuntimeDevice> RuntimeState::devices() {
  std::vector<RuntimeDevice> result;
  for (const std::string& name : plugins_->names_by_priority()) {
    auto devices = plugins_->devices(name);
    if (!devices) continue;  // in the report, with its reason
    for (DeviceDescription& device : *devices) {
      result.push_back({.plugin = name, .id = device.id, .properties = std::move(device.properties)});
    }
  }
  return result;
}

Result<SelectedDevice> RuntimeState::select(std::string_view selector) {
  std::string text(selector);
  if (text.empty()) text = configuration_->text("device.default").value_or("");
  if (text.empty()) return select_best();
  BACKPLANE_TRY(const DeviceSelector parsed, parse_device_selector(text));
  auto devices = plugins_->devices(parsed.plugin);
  if (devices) {
    for (DeviceDescription& device : *devices) {
      if (!matches(parsed, device)) continue;
      BACKPLANE_TRY(std::shared_ptr<LoadedPlugin> plugin, plugins_->load(parsed.plugin));
      return SelectedDevice{.plugin = std::move(plugin), .device = std::move(device)};
    }
  }
  if (!devices && devices.error().code() == ErrorCode::forked) return std::move(devices).error();
  const std::vector<RuntimeDevice> others = this->devices();
  return no_such_device(text, others, plugins_->listing().plugins);
}

Result<SelectedDevice> RuntimeState::select_best() {
  for (const std::string& name : plugins_->names_by_priority()) {
    auto devices = plugins_->devices(name);
    if (!devices && devices.error().code() == ErrorCode::forked) return std::move(devices).error();
    if (!devices) continue;
    BACKPLANE_TRY(std::shared_ptr<LoadedPlugin> plugin, plugins_->load(name));
    return SelectedDevice{.plugin = std::move(plugin), .device = std::move(devices->front())};
  }
  return no_such_device({}, {}, plugins_->listing().plugins);
}

}  // namespace backplane
