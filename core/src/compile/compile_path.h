#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include <backplane/contract/kernel.h>
#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>

#include "kernel/kernel_record.h"

namespace backplane {

/// A kernel ready to be launched on one device. Immutable; lives as long as the compile path that made it.
struct CompiledKernel {
  std::shared_ptr<const KernelRecord> record;
  const KernelDefinition* definition;
  std::shared_ptr<const Artifact> artifact;
  std::uint32_t index;

  [[nodiscard]] KernelRef ref() const noexcept { return {definition, artifact.get(), index}; }
};

/// How often the compile path had what work to do.
struct CompileStatistics {
  std::uint64_t fresh = 0;  ///< Artifacts made.
  std::uint64_t rekeyed =
      0;                     ///< Kernels that lowered to what another had lowered to, and share its artifact.
  std::uint64_t failed = 0;  ///< Kernels that did not compile.
};

/// The only way from a kernel to an artifact, one for each device in use. Any thread: several kernels compile
/// at once, each on the thread that first asked for it, and whoever else wants that kernel waits for it.
class CompilePath {
 public:
  explicit CompilePath(ICompiler& compiler) : compiler_(compiler) {}
  CompilePath(const CompilePath&) = delete;
  CompilePath& operator=(const CompilePath&) = delete;
  ~CompilePath();

  /// The kernel if it is there already, else null. Two loads; nothing is hashed and nothing waits.
  [[nodiscard]] const CompiledKernel* find(const KernelRecord& record) const noexcept {
    const std::uint32_t index = record.index();
    if (index >= kChunks * kChunkSize) return nullptr;
    const Chunk* chunk = chunks_[index / kChunkSize].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : (*chunk)[index % kChunkSize].load(std::memory_order_acquire);
  }

  /// The kernel, compiled now if need be. Blocks. A failure is answered to everyone who waited for it, and
  /// the next one to ask tries again. Errors: `launch_compilation` with the compiler's reason;
  /// `compilation_unsupported` where the backend takes none of the kernel's forms.
  Result<const CompiledKernel*> obtain(const std::shared_ptr<const KernelRecord>& record);

  [[nodiscard]] CompileStatistics statistics() const;

 private:
  static constexpr std::size_t kChunkSize = 1024;
  static constexpr std::size_t kChunks = 4096;
  using Chunk = std::array<std::atomic<const CompiledKernel*>, kChunkSize>;

  /// A kernel being compiled; those who wait share it.
  struct Trip {
    bool done = false;
    Result<const CompiledKernel*> outcome{nullptr};
  };

  Result<std::shared_ptr<const Artifact>> compile(const KernelDefinition& definition);
  Result<const CompiledKernel*> publish(const std::shared_ptr<const KernelRecord>& record,
                                        const KernelDefinition& definition,
                                        std::shared_ptr<const Artifact> artifact);

  ICompiler& compiler_;
  std::array<std::atomic<Chunk*>, kChunks> chunks_{};

  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::unordered_map<std::uint32_t, std::shared_ptr<Trip>> trips_;  // by record index
  std::unordered_map<KernelId, std::shared_ptr<const Artifact>> by_lowered_;
  std::vector<std::unique_ptr<const CompiledKernel>> kernels_;
  CompileStatistics statistics_;
};

}  // namespace backplane
