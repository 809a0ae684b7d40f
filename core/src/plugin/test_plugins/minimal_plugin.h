#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <backplane/sdk.h>

#include "pure_server.h"

// The least that is a plugin: overrides the pure methods alone.

namespace backplane::test {

/// Takes no kernel.
class MinimalCompiler final : public ICompiler {
 public:
  [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return {}; }
  std::string fingerprint() override { return {}; }
  Result<std::vector<std::byte>> lower(const KernelDefinition& /*kernel*/) override { return refuse(); }
  Result<Artifact> finalize(const KernelDefinition& /*kernel*/,
                            std::span<const std::byte> /*lowered*/) override {
    return refuse();
  }

 private:
  static Error refuse() { return {ErrorCode::compilation_unsupported, "This plugin compiles nothing."}; }
};

class MinimalPlugin : public IPlugin {
 public:
  explicit MinimalPlugin(IHost& host) : host_(host) {}

  Result<std::vector<DeviceDescription>> devices() override {
    return std::vector<DeviceDescription>{describe(0, "Test device")};
  }

  Result<std::unique_ptr<IServer>> create_server(DeviceId device) override {
    if (device.value != 0) return Error(ErrorCode::not_found, "There is no such device.");
    return std::make_unique<PureServer>();
  }

  Result<ICompiler*> compiler(DeviceId /*device*/) override { return &compiler_; }

 protected:
  static DeviceDescription describe(std::uint32_t id, std::string name) {
    DeviceDescription description;
    description.id = DeviceId{id};
    description.properties.name = std::move(name);
    description.properties.vendor = "Backplane";
    description.properties.kind = DeviceKind::other;
    return description;
  }

  IHost& host_;

 private:
  MinimalCompiler compiler_;
};

}  // namespace backplane::test
