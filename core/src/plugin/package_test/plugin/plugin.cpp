#include <backplane/sdk.h>

// A plugin as somebody outside would write it, against what is installed alone.

namespace {

class Plugin final : public backplane::IPlugin {
 public:
  explicit Plugin(backplane::IHost& /*host*/) {}

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    backplane::DeviceDescription device;
    device.properties.name = "Outside device";
    return std::vector{device};
  }

  backplane::Result<std::unique_ptr<backplane::IServer>> create_server(
      backplane::DeviceId /*device*/) override {
    return backplane::Error(backplane::ErrorCode::not_found, "This plugin serves nothing.");
  }

  backplane::Result<backplane::ICompiler*> compiler(backplane::DeviceId /*device*/) override {
    return backplane::Error(backplane::ErrorCode::not_found, "This plugin compiles nothing.");
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
