#include "minimal_plugin.h"

// Two devices, so that a selector has something to choose from.

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    auto first = describe(0, "First of " BACKPLANE_PLUGIN_NAME);
    first.properties.uuid = "00112233445566778899aabbccddeeff";
    first.properties.pci_address = "0000:3b:00.0";
    return std::vector{first, describe(1, "Second of " BACKPLANE_PLUGIN_NAME)};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
