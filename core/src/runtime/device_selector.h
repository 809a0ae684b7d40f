#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <backplane/contract/device.h>
#include <backplane/contract/result.h>
#include <backplane/runtime.h>

namespace backplane {

/// Which device is meant: "cuda", "cuda:1", "cuda:uuid=HEX", "cuda:pci=ADDRESS".
struct DeviceSelector {
  enum class By : std::uint8_t { first, index, uuid, pci };

  std::string plugin;
  By by = By::first;
  std::uint32_t index = 0;  ///< For `index`.
  std::string value;        ///< For `uuid` and `pci`, as devices spell it.
};

/// Takes a selector apart. UUIDs may be in upper case, with hyphens, and begin with "GPU-"; PCI addresses may
/// leave out the domain. Error: `validation`, with an example.
Result<DeviceSelector> parse_device_selector(std::string_view text);

/// Whether a device of the selector's plugin is meant; `first` matches every device.
[[nodiscard]] bool matches(const DeviceSelector& selector, const DeviceDescription& device);

/// The error for a selector that names nothing: lists the devices there are, and the plugins that could not
/// be used with their reasons.
[[nodiscard]] Error no_such_device(std::string_view selector, std::span<const RuntimeDevice> devices,
                                   std::span<const PluginReport> plugins);

}  // namespace backplane
