#include "runtime/device_selector.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "plugin/manifest_file.h"

namespace backplane {
namespace {

constexpr std::string_view kHexadecimal = "0123456789abcdef";
constexpr std::size_t kUuidDigits = 32;

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
  });
  return result;
}

Error malformed(std::string_view text, const std::string& why) {
  return {ErrorCode::validation,
          "\"" + std::string(text) + "\" names no device: " + why +
              R"( Write "cuda", "cuda:0", "cuda:uuid=..." or "cuda:pci=0000:3b:00.0".)"};
}

Result<std::string> uuid_of(std::string_view text, std::string_view value) {
  std::string digits = lower_case(value);
  if (digits.starts_with("gpu-")) digits.erase(0, 4);
  std::erase(digits, '-');
  if (digits.size() != kUuidDigits || digits.find_first_not_of(kHexadecimal) != std::string::npos) {
    return malformed(text, "a UUID has 32 hexadecimal digits, and this one has \"" + digits + "\".");
  }
  return digits;
}

/// "3B:00.0", "0000:3b:00.0" and "00000000:3b:00.0" are one address.
Result<std::string> pci_address_of(std::string_view text, std::string_view value) {
  std::string address = lower_case(value);
  if (std::ranges::count(address, ':') == 1) address = "0000:" + address;
  const std::size_t domain = address.find(':');
  constexpr std::size_t kDomainDigits = 4;
  if (domain != std::string::npos && domain > kDomainDigits) {
    const std::string surplus = address.substr(0, domain - kDomainDigits);
    if (surplus.find_first_not_of('0') == std::string::npos) address.erase(0, surplus.size());
  }
  constexpr std::string_view kShape = "xxxx:xx:xx.x";
  const bool fits =
      address.size() == kShape.size() && std::ranges::equal(address, kShape, [](char character, char shape) {
        return shape == 'x' ? kHexadecimal.find(character) != std::string_view::npos : character == shape;
      });
  if (!fits) return malformed(text, "a PCI address looks like \"0000:3b:00.0\".");
  return address;
}

}  // namespace

Result<DeviceSelector> parse_device_selector(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  DeviceSelector selector;
  selector.plugin = text.substr(0, colon);
  if (!is_plugin_name(selector.plugin)) return malformed(text, "it must begin with a plugin's name.");
  if (colon == text.size()) return selector;
  const std::string_view rest = text.substr(colon + 1);
  constexpr std::string_view kUuid = "uuid=";
  constexpr std::string_view kPci = "pci=";
  if (rest.starts_with(kUuid)) {
    selector.by = DeviceSelector::By::uuid;
    BACKPLANE_TRY(selector.value, uuid_of(text, rest.substr(kUuid.size())));
  } else if (rest.starts_with(kPci)) {
    selector.by = DeviceSelector::By::pci;
    BACKPLANE_TRY(selector.value, pci_address_of(text, rest.substr(kPci.size())));
  } else {
    selector.by = DeviceSelector::By::index;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), selector.index);
    if (error != std::errc() || end != rest.data() + rest.size()) {
      return malformed(text, "\"" + std::string(rest) + "\" is neither a device's number nor uuid= or pci=.");
    }
  }
  return selector;
}

bool matches(const DeviceSelector& selector, const DeviceDescription& device) {
  switch (selector.by) {
    case DeviceSelector::By::first:
      return true;
    case DeviceSelector::By::index:
      return device.id.value == selector.index;
    case DeviceSelector::By::uuid:
      return device.properties.uuid == selector.value;
    case DeviceSelector::By::pci:
      return device.properties.pci_address == selector.value;
  }
  return false;
}

Error no_such_device(std::string_view selector, std::span<const RuntimeDevice> devices,
                     std::span<const PluginReport> plugins) {
  std::string message = selector.empty() ? "There is no device to use."
                                         : "There is no device \"" + std::string(selector) + "\".";
  if (devices.empty()) message += " No plugin that was found has a device.";
  for (const RuntimeDevice& device : devices) {
    message += &device == devices.data() ? " There are: " : ", ";
    message += device.plugin + ":" + std::to_string(device.id.value) + " (" + device.properties.name + ")";
  }
  if (!devices.empty()) message += ".";
  for (const PluginReport& plugin : plugins) {
    if (plugin.reason.empty() || plugin.state == PluginState::shadowed) continue;
    message += " Plugin " + plugin.name + " (" + std::string(to_string(plugin.state)) + "): " + plugin.reason;
  }
  if (plugins.empty()) {
    message +=
        " No plugin was found at all; \"backplane info\" shows where it was looked for, and "
        "BACKPLANE_ADD_PLUGINS names further directories.";
  }
  return {ErrorCode::not_found, std::move(message)};
}

}  // namespace backplane
