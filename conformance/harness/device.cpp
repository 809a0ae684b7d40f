#include "harness/device.h"

#include <functional>
#include <utility>
#include <vector>

namespace backplane::conformance {
namespace {

struct DeviceUnderTest {
  Runtime runtime;
  Client client;
  std::string selector;
  std::uint64_t seed;
};

std::optional<DeviceUnderTest>& under_test() {
  static std::optional<DeviceUnderTest> instance;
  return instance;
}

Error no_usable_plugin(const Options& options, const RuntimeReport& report) {
  std::string text = "There is no usable plugin at \"" + options.plugin + "\".";
  for (const PluginPlace& place : report.places) {
    if (!place.problem.empty()) text += "\n  " + place.path.string() + ": " + place.problem;
  }
  for (const PluginReport& plugin : report.plugins) text += "\n  " + plugin.name + ": " + plugin.reason;
  return {ErrorCode::not_found, std::move(text)};
}

}  // namespace

Result<void> open_device(const Options& options) {
  RuntimeOptions runtime_options;
  runtime_options.plugins = {options.plugin};
  runtime_options.configuration = {{"plugin.select", ""}};
  BACKPLANE_TRY(Runtime runtime, Runtime::open(std::move(runtime_options)));
  const RuntimeReport report = runtime.report();
  for (const PluginReport& plugin : report.plugins) {
    if (plugin.source != PluginSource::code || plugin.state != PluginState::loaded) continue;
    const std::string selector = plugin.name + ":" + std::to_string(options.device);
    BACKPLANE_TRY(Client client, runtime.client(selector));
    under_test().emplace(DeviceUnderTest{std::move(runtime), std::move(client), selector, options.seed});
    return {};
  }
  return no_usable_plugin(options, report);
}

void close_device() {
  under_test().reset();
}

const Client& device() {
  return under_test()->client;
}

Result<Client> open_again() {
  return under_test()->runtime.client(under_test()->selector);
}

std::uint64_t seed_for(const std::string& test) {
  return under_test()->seed ^ std::hash<std::string>{}(test);
}

}  // namespace backplane::conformance
