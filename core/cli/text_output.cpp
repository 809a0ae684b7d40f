#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backplane/runtime.h>
#include <backplane/version.h>

#include "output.h"
#include "table.h"

namespace backplane::cli {
namespace {

template <class Texts>
std::string joined(const Texts& texts, std::string_view separator) {
  std::string result;
  for (const std::string_view text : texts) {
    if (!result.empty()) result += separator;
    result += text;
  }
  return result;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  const std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 2) + " " + std::string(kUnits[unit]);
}

std::string extent(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
}

std::string state_text(const PluginReport& plugin) {
  if (plugin.state == PluginState::loaded) {
    const std::size_t count = plugin.devices.size();
    return std::to_string(count) + (count == 1 ? " device" : " devices");
  }
  const std::string text(to_string(plugin.state));
  return plugin.reason.empty() ? text : text + ": " + plugin.reason;
}

std::string directory_of(const PluginReport& plugin) {
  return (plugin.manifest.empty() ? plugin.library : plugin.manifest).parent_path().string();
}

void print_places(std::ostream& out, const RuntimeReport& report) {
  Table table({"searched", "for", "found"});
  for (const PluginPlace& place : report.places) {
    std::string found = place.problem.empty() ? std::to_string(place.found) : place.problem;
    table.add({place.path.string(), std::string(to_string(place.source)), std::move(found)});
  }
  table.print(out);
}

void print_device(std::ostream& out, const PluginReport& plugin, const DeviceDescription& device) {
  const DeviceProperties& is = device.properties;
  const auto line = [&](std::string_view name, const std::string& value) {
    constexpr std::size_t kNameWidth = 22;
    if (value.empty()) return;
    out << "  " << name << std::string(kNameWidth - name.size(), ' ') << printable(value) << '\n';
  };
  out << '\n' << plugin.name << ':' << device.id.value << "  " << printable(is.name) << '\n';
  line("kind", std::string(name_of(is.kind)));
  line("vendor", is.vendor);
  line("driver", is.driver);
  line("PCI address", is.pci_address);
  line("UUID", is.uuid);
  line("memory", bytes_text(is.memory_bytes));
  line("compute units", std::to_string(is.compute_units));
  line("largest allocation", bytes_text(is.limits.allocation_bytes));
  line("largest workgroup", std::to_string(is.limits.workgroup_invocations) + " invocations (" +
                                extent(is.limits.workgroup_size) + ")");
  line("workgroups", extent(is.limits.workgroup_count));
  line("workgroup memory", bytes_text(is.limits.workgroup_memory_bytes));
  line("subgroup",
       std::to_string(is.limits.subgroup_size_min) + " to " + std::to_string(is.limits.subgroup_size_max));
  line("bindings", std::to_string(is.limits.bindings));
  line("streams", std::to_string(is.limits.streams));
  line("capabilities", joined(is.capabilities.names(), " "));
  for (const DeviceProperty& more : is.more) line(printable(more.name).substr(0, 20), more.value);
}

}  // namespace

std::string_view name_of(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::cpu:
      return "CPU";
    case DeviceKind::integrated_gpu:
      return "integrated GPU";
    case DeviceKind::discrete_gpu:
      return "discrete GPU";
    case DeviceKind::virtual_gpu:
      return "virtual GPU";
    case DeviceKind::other:
      break;
  }
  return "other";
}

void print_info(std::ostream& out, const RuntimeReport& report) {
  out << "backplane " << version() << ", interface " << kInterfaceVersion.major << '.'
      << kInterfaceVersion.revision << "\n\n";
  Table table({"plugin", "version", "from", "state"});
  for (const PluginReport& plugin : report.plugins) {
    table.add({plugin.name, plugin.version, directory_of(plugin), state_text(plugin)});
  }
  table.print(out);
  if (report.plugins.empty())
    out << "No plugin was found; BACKPLANE_ADD_PLUGINS names further directories.\n";
  for (const PluginReport& plugin : report.plugins) {
    for (const DeviceDescription& device : plugin.devices) print_device(out, plugin, device);
  }
  out << '\n';
  print_places(out, report);
}

void print_plugins(std::ostream& out, const RuntimeReport& report) {
  Table table({"plugin", "version", "priority", "interface", "kernels", "library", "state"});
  for (const PluginReport& plugin : report.plugins) {
    const std::string interface =
        std::to_string(plugin.interface.major) + "." + std::to_string(plugin.interface.revision);
    table.add({plugin.name, plugin.version, std::to_string(plugin.priority), interface,
               joined(plugin.kernels, ","), plugin.library.string(), state_text(plugin)});
  }
  table.print(out);
}

void print_configuration(std::ostream& out, const std::vector<ConfigurationEntry>& entries) {
  Table table({"key", "value", "from", "what it is for"});
  for (const ConfigurationEntry& entry : entries) {
    table.add({entry.key, entry.value.empty() ? "-" : entry.value, entry.origin, entry.description});
  }
  table.print(out);
}

}  // namespace backplane::cli
