#include "launch.h"

#include <algorithm>
#include <new>
#include <vector>

namespace backplane::cpu {
namespace {

/// Invocations below which waking another thread costs more than it saves.
constexpr std::uint64_t kInvocationsWorthSharing = 2048;

/// Most invocations a thread takes at a time: enough to make taking them cheap, few enough that their data
/// stay in cache and that threads end together.
constexpr std::uint64_t kInvocationsPerChunk = 16'384;

constexpr std::uint64_t kChunksPerThread = 8;

std::uint64_t chunk_of(std::uint64_t workgroups, const WorkgroupSize& size, std::size_t threads) {
  const std::uint64_t invocations = std::uint64_t{size[0]} * size[1] * size[2];
  if (workgroups * invocations <= kInvocationsWorthSharing) return workgroups;
  const std::uint64_t fair = workgroups / (threads * kChunksPerThread);
  return std::clamp<std::uint64_t>(fair, 1, std::max<std::uint64_t>(kInvocationsPerChunk / invocations, 1));
}

void run_function(WorkerPool& pool, const KernelDefinition& kernel, std::array<std::uint32_t, 3> count,
                  std::span<const std::span<std::byte>> buffers, std::span<const std::byte> scalars,
                  std::uint64_t workgroups, std::uint64_t chunk) {
  pool.run(workgroups, chunk, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto x = static_cast<std::uint32_t>(i % count[0]);
      const auto y = static_cast<std::uint32_t>(i / count[0] % count[1]);
      const auto z = static_cast<std::uint32_t>(i / count[0] / count[1]);
      kernel.function({buffers, scalars, {x, y, z}, count, kernel.workgroup_size});
    }
  });
}

void run_translated(WorkerPool& pool, const Module& module, std::array<std::uint32_t, 3> count,
                    std::span<const std::span<std::byte>> buffers, std::span<const std::byte> scalars,
                    std::uint64_t workgroups, std::uint64_t chunk) {
  std::vector<HostBuffer> table;
  for (const std::span<std::byte> buffer : buffers) table.push_back({buffer.data(), buffer.size()});
  pool.run(workgroups, chunk, [&](std::uint64_t begin, std::uint64_t end) {
    Bytes workgroup_memory = Bytes::allocate(module.workgroup_memory_bytes());
    const HostKernelArguments arguments{
        table.data(), scalars.data(), workgroup_memory.data(), {count[0], count[1], count[2]}};
    module.translated()(&arguments, begin, end);
  });
}

}  // namespace

Result<void> run_workgroups(WorkerPool& pool, const Module& module, const KernelDefinition& kernel,
                            std::array<std::uint32_t, 3> count, std::span<const std::span<std::byte>> buffers,
                            std::span<const std::byte> scalars) {
  std::uint64_t workgroups = 1;
  for (const std::uint32_t along : count) {
    if (along != 0 && workgroups > ~std::uint64_t{0} / along) {
      return Error(
          ErrorCode::launch_too_many_resources,
          "Kernel \"" + kernel.label + "\" cannot run: its number of workgroups does not fit 64 bits.");
    }
    workgroups *= along;
  }
  const std::uint64_t chunk = chunk_of(workgroups, kernel.workgroup_size, pool.size());
  try {
    if (module.translated() == nullptr) {
      run_function(pool, kernel, count, buffers, scalars, workgroups, chunk);
    } else {
      run_translated(pool, module, count, buffers, scalars, workgroups, chunk);
    }
  } catch (const std::bad_alloc&) {
    return Error(
        ErrorCode::launch_out_of_memory,
        "Kernel \"" + kernel.label + "\" cannot run: the host has no memory left for its workgroups.");
  }
  return {};
}

}  // namespace backplane::cpu
