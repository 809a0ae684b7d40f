#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <backplane/runtime.h>
#include <backplane/version.h>

#include "output.h"

namespace backplane::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Text from files need not be UTF-8; JSON must be.
void write(std::ostream& out, const Json& json) {
  constexpr int kIndent = 2;
  out << json.dump(kIndent, ' ', false, Json::error_handler_t::replace) << '\n';
}

Json limits_json(const DeviceLimits& limits) {
  return {{"workgroup_count", limits.workgroup_count},
          {"workgroup_size", limits.workgroup_size},
          {"workgroup_invocations", limits.workgroup_invocations},
          {"bindings", limits.bindings},
          {"scalar_bytes", limits.scalar_bytes},
          {"workgroup_memory_bytes", limits.workgroup_memory_bytes},
          {"subgroup_size_min", limits.subgroup_size_min},
          {"subgroup_size_max", limits.subgroup_size_max},
          {"streams", limits.streams},
          {"allocation_bytes", limits.allocation_bytes},
          {"binding_bytes", limits.binding_bytes},
          {"buffer_alignment", limits.buffer_alignment}};
}

Json device_json(const PluginReport& plugin, const DeviceDescription& device) {
  const DeviceProperties& is = device.properties;
  Json more = Json::object();
  for (const DeviceProperty& property : is.more) more[property.name] = property.value;
  return {{"selector", plugin.name + ":" + std::to_string(device.id.value)},
          {"id", device.id.value},
          {"name", is.name},
          {"vendor", is.vendor},
          {"driver", is.driver},
          {"pci_address", is.pci_address},
          {"uuid", is.uuid},
          {"kind", std::string(name_of(is.kind))},
          {"compute_units", is.compute_units},
          {"memory_bytes", is.memory_bytes},
          {"limits", limits_json(is.limits)},
          {"capabilities", is.capabilities.names()},
          {"more", more}};
}

Json plugin_json(const PluginReport& plugin) {
  Json devices = Json::array();
  for (const DeviceDescription& device : plugin.devices) devices.push_back(device_json(plugin, device));
  return {{"name", plugin.name},
          {"version", plugin.version},
          {"description", plugin.description},
          {"state", std::string(to_string(plugin.state))},
          {"reason", plugin.reason},
          {"manifest", plugin.manifest.string()},
          {"library", plugin.library.string()},
          {"source", std::string(to_string(plugin.source))},
          {"priority", plugin.priority},
          {"kernels", plugin.kernels},
          {"interface", {{"major", plugin.interface.major}, {"revision", plugin.interface.revision}}},
          {"toolchain", plugin.toolchain},
          {"devices", devices}};
}

}  // namespace

void print_report_json(std::ostream& out, const RuntimeReport& report) {
  Json places = Json::array();
  for (const PluginPlace& place : report.places) {
    places.push_back({{"path", place.path.string()},
                      {"source", std::string(to_string(place.source))},
                      {"found", place.found},
                      {"problem", place.problem}});
  }
  Json plugins = Json::array();
  for (const PluginReport& plugin : report.plugins) plugins.push_back(plugin_json(plugin));
  write(out, {{"version", std::string(version())},
              {"interface", {{"major", kInterfaceVersion.major}, {"revision", kInterfaceVersion.revision}}},
              {"plugins", plugins},
              {"places", places}});
}

void print_configuration_json(std::ostream& out, const std::vector<ConfigurationEntry>& entries) {
  Json json = Json::array();
  for (const ConfigurationEntry& entry : entries) {
    json.push_back({{"key", entry.key},
                    {"value", entry.value},
                    {"origin", entry.origin},
                    {"description", entry.description}});
  }
  write(out, json);
}

}  // namespace backplane::cli
