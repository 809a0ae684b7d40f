#include "device.h"

#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <unistd.h>

namespace backplane::cpu {
namespace {

/// The values of "key : value" lines, of the first processor listed.
std::string processor_fact(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find(": ");
    if (value != std::string::npos) return line.substr(value + 2);
  }
  return {};
}

std::string or_else(std::string text, const char* otherwise) {
  return text.empty() ? otherwise : std::move(text);
}

std::uint64_t physical_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_size)
             : 0;
}

DeviceLimits limits(std::uint64_t memory_bytes) {
  constexpr std::uint32_t kInvocations = 1024;
  // Translated code counts the invocations of a dimension in 31 bits.
  constexpr std::uint32_t kCount = std::numeric_limits<std::int32_t>::max() / kInvocations;
  DeviceLimits limits;
  limits.workgroup_count = {kCount, kCount, kCount};
  limits.workgroup_size = {kInvocations, kInvocations, kInvocations};
  limits.workgroup_invocations = kInvocations;
  limits.bindings = 64;
  limits.scalar_bytes = 256;
  limits.workgroup_memory_bytes = 64 * 1024;
  limits.allocation_bytes = memory_bytes;
  // The index checks clamp in signed 32 bits, so no index that is in range may need more.
  limits.binding_bytes = std::numeric_limits<std::int32_t>::max();
  limits.buffer_alignment = 16;
  return limits;
}

}  // namespace

DeviceProperties describe_processor() {
  DeviceProperties properties;
  properties.name = or_else(processor_fact("model name"), "Processor");
  properties.vendor = or_else(processor_fact("vendor_id"), "unknown");
  properties.kind = DeviceKind::cpu;
  properties.compute_units = std::max(1U, std::thread::hardware_concurrency());
  properties.memory_bytes = physical_memory();
  properties.limits = limits(properties.memory_bytes);
  properties.capabilities = {Capability::copy,
                             Capability::fill,
                             Capability::native_resource,
                             Capability::abandon_profile,
                             Capability::unified_memory,
                             Capability::indirect,
                             Capability::int8,
                             Capability::int16,
                             Capability::int64,
                             Capability::float16,
                             Capability::float64,
                             Capability::atomic_int64,
                             Capability::atomic_float_add,
                             Capability::storage_8bit,
                             Capability::storage_16bit};
  return properties;
}

}  // namespace backplane::cpu
