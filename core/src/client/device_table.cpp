#include "client/device_table.h"

namespace backplane {

Result<std::shared_ptr<DeviceContext>> DeviceTable::open(const std::shared_ptr<LoadedPlugin>& plugin,
                                                         DeviceId device) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<DeviceContext>& slot = open_[{plugin->name(), device.value}];
  if (std::shared_ptr<DeviceContext> known = slot.lock()) return known;
  BACKPLANE_TRY(ICompiler * compiler, plugin->compiler(device));
  BACKPLANE_TRY(
      std::shared_ptr<DeviceContext> context,
      DeviceContext::open({.name = plugin->name() + ":" + std::to_string(device.value),
                           .compiler = compiler,
                           .open_server = [plugin, device] { return plugin->create_server(device); },
                           .library = plugin,
                           .stream_policy = stream_policy_}));
  slot = context;
  return context;
}

}  // namespace backplane
