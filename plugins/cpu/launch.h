#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <backplane/toolkit.h>

#include "module.h"
#include "worker_pool.h"

namespace backplane::cpu {

/// Runs every workgroup of a launch on the pool and returns when all are done. The buffers are by binding.
/// One thread, the server's. Errors: `launch_out_of_memory` where workgroup memory cannot be had.
Result<void> run_workgroups(WorkerPool& pool, const Module& module, const KernelDefinition& kernel,
                            std::array<std::uint32_t, 3> count, std::span<const std::span<std::byte>> buffers,
                            std::span<const std::byte> scalars);

}  // namespace backplane::cpu
