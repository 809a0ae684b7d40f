#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include <backplane/toolkit.h>

#include "module.h"
#include "storage.h"
#include "worker_pool.h"

namespace backplane::cpu {

/// The cpu device. It runs work when it is asked to, on a pool of which the calling thread is one: when a
/// call returns its work is done, so every stream is in order with every other and nothing is ever
/// outstanding. Calls may come from any thread, one at a time.
class Server final : public IServer {
 public:
  explicit Server(IHost& host);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void initialize_memory(ManagedMemory memory, std::uint64_t size, StreamId stream) override;
  std::shared_ptr<ILogger> logger() override { return logger_; }
  std::shared_ptr<const ServerUtilities> utilities() override { return utilities_; }
  Deferred<Result<std::vector<Bytes>>> read(std::span<const CopyDescriptor> sources,
                                            StreamId stream) override;
  void write(std::span<WriteDescriptor> writes, StreamId stream) override;
  Deferred<Result<void>> sync(std::span<const BufferBinding> buffers, StreamId stream) override;
  Result<void> check(std::span<const BufferBinding> buffers, StreamId stream) override;
  void claim(std::span<const BufferBinding> buffers, const Error& error, StreamId stream) override;
  void launch(const KernelRef& kernel, const WorkgroupCount& count, const KernelArguments& arguments,
              StreamId stream, LaunchMode mode) override;
  Result<void> flush(StreamId stream) override;
  MemoryUsage memory_usage(StreamId stream) override;
  MemoryReport memory_report(StreamId stream) override;
  void memory_cleanup(StreamId stream) override;
  Result<ProfilingToken> start_profile(StreamId stream) override;
  Result<ProfileDuration> end_profile(StreamId stream, ProfilingToken token) override;
  void allocation_mode(MemoryAllocationMode mode, StreamId stream) override;

  Result<void> copy(const BufferBinding& source, const BufferBinding& destination, StreamId stream) override;
  Result<void> fill(const BufferBinding& destination, std::span<const std::byte> pattern,
                    StreamId stream) override;
  Result<NativeResource> native_resource(const BufferBinding& buffer, StreamId stream) override;
  void abandon_profile(StreamId stream, ProfilingToken token) override;

 private:
  struct Profile {
    std::uint64_t begin;
    toolkit::WindowId window;
  };

  static bool is_allocated(const BufferBinding& binding);

  /// The bytes a binding names. Errors: why its allocation failed; `validation` where it reaches past the
  /// end.
  static Result<std::span<std::byte>> resolve(const BufferBinding& binding);
  static toolkit::TrackedRange tracked(const BufferBinding& binding);
  static std::vector<toolkit::TrackedRange> tracked(std::span<const BufferBinding> bindings);

  void collect_dropped();
  Result<Module*> module(const KernelRef& kernel);
  Result<void> run(const KernelRef& kernel, const WorkgroupCount& count, const KernelArguments& arguments);
  Result<std::array<std::uint32_t, 3>> workgroups(const KernelRef& kernel, const WorkgroupCount& count) const;

  IHost& host_;
  std::shared_ptr<ILogger> logger_;
  std::shared_ptr<const ServerUtilities> utilities_;
  Storage storage_;
  toolkit::Failures failures_;
  WorkerPool pool_;
  std::vector<std::unique_ptr<Module>> modules_;  // by kernel index
  std::unordered_map<ProfilingToken, Profile> profiles_;
  std::uint64_t last_profile_ = 0;
};

}  // namespace backplane::cpu
