#include "plugin.h"

#include <string>

#include "device.h"
#include "server.h"

namespace backplane::cpu {

Result<std::vector<DeviceDescription>> Plugin::devices() {
  return std::vector<DeviceDescription>{{DeviceId{0}, describe_processor()}};
}

Result<std::unique_ptr<IServer>> Plugin::create_server(DeviceId device) {
  BACKPLANE_CHECK(check(device));
  return std::make_unique<Server>(host_);
}

Result<ICompiler*> Plugin::compiler(DeviceId device) {
  BACKPLANE_CHECK(check(device));
  return &compiler_;
}

Result<void> Plugin::check(DeviceId device) {
  if (device == DeviceId{0}) return {};
  return Error(ErrorCode::not_found,
               "The cpu plugin has no device " + std::to_string(device.value) + "; its only device is 0.");
}

}  // namespace backplane::cpu

BACKPLANE_PLUGIN(backplane::cpu::Plugin)
