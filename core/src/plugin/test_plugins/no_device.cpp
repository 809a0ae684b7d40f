#include "minimal_plugin.h"

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    return backplane::Error(backplane::ErrorCode::no_device,
                            "libtest.so.1 was not found; install the driver.");
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
