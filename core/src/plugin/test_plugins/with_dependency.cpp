#include <string>

#include "minimal_plugin.h"

extern "C" int backplane_test_dependency();

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    return std::vector{describe(0, "The dependency says " + std::to_string(backplane_test_dependency()))};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
