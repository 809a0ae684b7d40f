#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <backplane/contract/device.h>
#include <backplane/contract/kernel.h>
#include <backplane/contract/result.h>

namespace backplane {

/// Whether a device can run a kernel at all: capabilities, workgroup, shared memory, number of arguments.
/// `device` names it in messages. Any thread. Errors: `compilation_unsupported` for a missing capability,
/// `launch_too_many_resources` with the requested and the allowed value.
Result<void> check_kernel(const KernelDefinition& kernel, const DeviceProperties& properties,
                          const std::string& device);

/// Whether the arguments of one launch fit its kernel and the device; scalars may have up to 15 bytes of
/// padding at the end. Requires what `check_kernel` checks. Any thread. Errors: `validation`,
/// `launch_too_many_resources`.
Result<void> check_launch(const KernelDefinition& kernel, const WorkgroupCount& count,
                          std::span<const BufferBinding> buffers, std::span<const std::byte> scalars,
                          const DeviceProperties& properties, const std::string& device);

}  // namespace backplane
