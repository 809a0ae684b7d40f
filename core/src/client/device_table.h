#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <backplane/contract/result.h>

#include "client/device_context.h"
#include "plugin/loaded_plugin.h"

namespace backplane {

/// The devices of one runtime that are open: asking for one again gives the same. Any thread.
class DeviceTable {
 public:
  explicit DeviceTable(StreamPolicy stream_policy) noexcept : stream_policy_(stream_policy) {}

  /// The device, opened if it is not. Blocks for as long as that takes, others that open a device meanwhile
  /// too. Errors: the plugin's own.
  Result<std::shared_ptr<DeviceContext>> open(const std::shared_ptr<LoadedPlugin>& plugin, DeviceId device);

 private:
  const StreamPolicy stream_policy_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::uint32_t>, std::weak_ptr<DeviceContext>> open_;
};

}  // namespace backplane
