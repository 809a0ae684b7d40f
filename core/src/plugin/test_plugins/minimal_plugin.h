#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <backplane/sdk.h>

// The least that is a plugin: overrides the pure methods alone.

namespace backplane::test {

class MinimalServer : public IServer {
 public:
  void initialize_memory(ManagedMemory /*memory*/, std::uint64_t /*size*/, StreamId /*stream*/) override {}
  std::shared_ptr<ILogger> logger() override { return nullptr; }
  std::shared_ptr<const ServerUtilities> utilities() override {
    auto utilities = std::make_shared<ServerUtilities>();
    utilities->dropped = std::make_shared<DroppedAllocations>();
    return utilities;
  }
  Deferred<Result<std::vector<Bytes>>> read(std::span<const CopyDescriptor> /*sources*/,
                                            StreamId /*stream*/) override {
    return Deferred<Result<std::vector<Bytes>>>::completed(std::vector<Bytes>());
  }
  void write(std::span<WriteDescriptor> /*writes*/, StreamId /*stream*/) override {}
  Deferred<Result<void>> sync(std::span<const BufferBinding> /*buffers*/, StreamId /*stream*/) override {
    return Deferred<Result<void>>::completed({});
  }
  Result<void> check(std::span<const BufferBinding> /*buffers*/, StreamId /*stream*/) override { return {}; }
  void claim(std::span<const BufferBinding> /*buffers*/, const Error& /*error*/,
             StreamId /*stream*/) override {}
  void launch(const KernelRef& /*kernel*/, const WorkgroupCount& /*count*/,
              const KernelArguments& /*arguments*/, StreamId /*stream*/, LaunchMode /*mode*/) override {}
  Result<void> flush(StreamId /*stream*/) override { return {}; }
  MemoryUsage memory_usage(StreamId /*stream*/) override { return {}; }
  MemoryReport memory_report(StreamId /*stream*/) override { return {}; }
  void memory_cleanup(StreamId /*stream*/) override {}
  Result<ProfilingToken> start_profile(StreamId /*stream*/) override { return ProfilingToken{1}; }
  Result<ProfileDuration> end_profile(StreamId /*stream*/, ProfilingToken /*token*/) override {
    return Error(ErrorCode::profile_unknown, "This server measures nothing.");
  }
  void allocation_mode(MemoryAllocationMode /*mode*/, StreamId /*stream*/) override {}
};

class MinimalPlugin : public IPlugin {
 public:
  explicit MinimalPlugin(IHost& host) : host_(host) {}

  Result<std::vector<DeviceDescription>> devices() override {
    return std::vector<DeviceDescription>{describe(0, "Test device")};
  }

  Result<std::unique_ptr<IServer>> create_server(DeviceId device) override {
    if (device.value != 0) return Error(ErrorCode::not_found, "There is no such device.");
    return std::unique_ptr<IServer>(std::make_unique<MinimalServer>());
  }

  Result<ICompiler*> compiler(DeviceId /*device*/) override {
    return Error(ErrorCode::not_found, "This plugin compiles nothing.");
  }

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
};

}  // namespace backplane::test
