#pragma once

#include "translation.h"

namespace backplane::translator {

// What generated host objects export.
inline constexpr const char* kHostKernelSymbol = "backplane_kernel";
inline constexpr const char* kWorkgroupMemorySymbol = "backplane_workgroup_memory_bytes";

/// Adds to the translation's module the function with the signature `HostKernel`, the loop over workgroups
/// and invocations, and makes everything else local to it. Throws `Failure`.
void wrap_for_host(const Translation& translation);

}  // namespace backplane::translator
