#include <string>

#include "minimal_plugin.h"

extern "C" int test_dependency_value();

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    return std::vector{describe(0, "The dependency says " + std::to_string(test_dependency_value()))};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
