#include <stdexcept>

#include "minimal_plugin.h"

// Throws where THROWS_IN_... says so.

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  explicit Plugin(backplane::IHost& host) : MinimalPlugin(host) {
#ifdef THROWS_IN_CONSTRUCTOR
    throw std::runtime_error("the driver is out of order");
#endif
  }

#ifdef THROWS_IN_DEVICES
  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    throw std::runtime_error("the bus is on fire");
  }
  backplane::Result<std::unique_ptr<backplane::IServer>> create_server(backplane::DeviceId /*id*/) override {
    throw 42;  // NOLINT(*-exception-baseclass): that is the point
  }
#endif
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
