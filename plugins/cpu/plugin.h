#pragma once

#include <memory>
#include <vector>

#include <backplane/toolkit.h>

#include "module.h"

namespace backplane::cpu {

/// The backend that runs on this machine's processor: one device, always there. Any thread; the host
/// serialises calls.
class Plugin final : public IPlugin {
 public:
  explicit Plugin(IHost& host) : host_(host), compiler_(host) {}

  Result<std::vector<DeviceDescription>> devices() override;
  Result<std::unique_ptr<IServer>> create_server(DeviceId device) override;
  Result<ICompiler*> compiler(DeviceId device) override;

 private:
  static Result<void> check(DeviceId device);

  IHost& host_;
  Compiler compiler_;
};

}  // namespace backplane::cpu
