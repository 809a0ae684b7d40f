#pragma once

#include <memory>
#include <span>
#include <vector>

#include <backplane/sdk.h>

namespace backplane {

/// Logs nothing.
class SilentLogger final : public ILogger {
 public:
  [[nodiscard]] bool enabled(LogLevel /*level*/) const noexcept override { return false; }
  void log(LogLevel /*level*/, std::string_view /*message*/) noexcept override {}
};

/// A server for tests that overrides what it must and nothing else. Counts the calls it gets.
class PureServer : public IServer {
 public:
  void initialize_memory(ManagedMemory /*memory*/, std::uint64_t /*size*/, StreamId /*stream*/) override {
    ++calls;
  }
  std::shared_ptr<ILogger> logger() override { return std::make_shared<SilentLogger>(); }
  std::shared_ptr<const ServerUtilities> utilities() override { return utilities_; }
  Deferred<Result<std::vector<Bytes>>> read(std::span<const CopyDescriptor> sources,
                                            StreamId /*stream*/) override {
    ++calls;
    std::vector<Bytes> blocks;
    for (const CopyDescriptor& source : sources) blocks.push_back(Bytes::allocate(source.buffer.size));
    return Deferred<Result<std::vector<Bytes>>>::completed(std::move(blocks));
  }
  void write(std::span<WriteDescriptor> /*writes*/, StreamId /*stream*/) override { ++calls; }
  Deferred<Result<void>> sync(std::span<const BufferBinding> /*buffers*/, StreamId /*stream*/) override {
    ++calls;
    return Deferred<Result<void>>::completed({});
  }
  Result<void> check(std::span<const BufferBinding> /*buffers*/, StreamId /*stream*/) override {
    ++calls;
    return {};
  }
  void claim(std::span<const BufferBinding> /*buffers*/, const Error& /*error*/,
             StreamId /*stream*/) override {
    ++calls;
  }
  void launch(const KernelRef& /*kernel*/, const WorkgroupCount& /*count*/,
              const KernelArguments& /*arguments*/, StreamId /*stream*/, LaunchMode /*mode*/) override {
    ++calls;
  }
  Result<void> flush(StreamId /*stream*/) override { return {}; }
  MemoryUsage memory_usage(StreamId /*stream*/) override { return {}; }
  MemoryReport memory_report(StreamId /*stream*/) override { return {}; }
  void memory_cleanup(StreamId /*stream*/) override { ++calls; }
  Result<ProfilingToken> start_profile(StreamId /*stream*/) override { return ProfilingToken{1}; }
  Result<ProfileDuration> end_profile(StreamId /*stream*/, ProfilingToken token) override {
    ended = token;
    return ProfileDuration{ProfileClock::host, Deferred<Result<ProfileTicks>>::completed(ProfileTicks{})};
  }
  void allocation_mode(MemoryAllocationMode /*mode*/, StreamId /*stream*/) override { ++calls; }

  int calls = 0;
  ProfilingToken ended;

 protected:
  static std::shared_ptr<const ServerUtilities> make_utilities() {
    ServerUtilities utilities;
    utilities.properties.name = "Test device";
    utilities.properties.limits = {.workgroup_count = {100, 100, 100},
                                   .workgroup_size = {64, 64, 64},
                                   .workgroup_invocations = 64,
                                   .bindings = 8,
                                   .scalar_bytes = 64,
                                   .workgroup_memory_bytes = 1024,
                                   .allocation_bytes = 1 << 20,
                                   .binding_bytes = 1 << 20,
                                   .buffer_alignment = 4};
    utilities.dropped = std::make_shared<DroppedAllocations>();
    return std::make_shared<const ServerUtilities>(std::move(utilities));
  }

 private:
  std::shared_ptr<const ServerUtilities> utilities_ = make_utilities();
};

}  // namespace backplane
