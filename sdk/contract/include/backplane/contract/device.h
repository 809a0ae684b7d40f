#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/contract/id.h>

namespace backplane {

/// What a device can do beyond the mandatory part of the contract. The first group are methods of `IServer`
/// that have a default: the bit is on exactly if the method does more than its default. The second are
/// features of kernels. Values are below 64 and part of the contract; unknown ones are tolerated.
enum class Capability : std::uint8_t {
  staging = 0,
  copy = 1,
  fill = 2,
  native_resource = 3,
  graph = 4,
  stream_ids = 5,
  memory_pools = 6,
  abandon_profile = 7,
  collectives = 8,

  hardware_graph =
      16,  ///< A replay is one dispatch to the driver; else it is re-encoded, dispatch by dispatch.
  device_timestamps = 17,  ///< Profiles are measured on the device's own clock.
  unified_memory = 18,     ///< Device memory is host memory.
  peer = 19,               ///< Copies to another device of the same plugin need not pass through the host.
  indirect = 20,           ///< The workgroup count may lie in a buffer.

  int8 = 32,
  int16 = 33,
  int64 = 34,
  float16 = 35,
  float64 = 36,
  atomic_int64 = 37,
  atomic_float_add = 38,
  subgroup = 39,
  barrier = 40,  ///< Workgroup barriers.
  matrix = 41,   ///< Matrix units, through native kernels.
  tensor_map = 42,
  storage_8bit = 43,   ///< 8-bit members of buffers, even where there is no 8-bit arithmetic.
  storage_16bit = 44,  ///< Likewise of 16 bits.
};

/// The capability's name as it is spelled in `Capability`; "unknown" for a value newer than this header.
[[nodiscard]] constexpr std::string_view to_string(Capability capability) noexcept {
  switch (capability) {
    case Capability::staging:
      return "staging";
    case Capability::copy:
      return "copy";
    case Capability::fill:
      return "fill";
    case Capability::native_resource:
      return "native_resource";
    case Capability::graph:
      return "graph";
    case Capability::stream_ids:
      return "stream_ids";
    case Capability::memory_pools:
      return "memory_pools";
    case Capability::abandon_profile:
      return "abandon_profile";
    case Capability::collectives:
      return "collectives";
    case Capability::hardware_graph:
      return "hardware_graph";
    case Capability::device_timestamps:
      return "device_timestamps";
    case Capability::unified_memory:
      return "unified_memory";
    case Capability::peer:
      return "peer";
    case Capability::indirect:
      return "indirect";
    case Capability::int8:
      return "int8";
    case Capability::int16:
      return "int16";
    case Capability::int64:
      return "int64";
    case Capability::float16:
      return "float16";
    case Capability::float64:
      return "float64";
    case Capability::atomic_int64:
      return "atomic_int64";
    case Capability::atomic_float_add:
      return "atomic_float_add";
    case Capability::subgroup:
      return "subgroup";
    case Capability::barrier:
      return "barrier";
    case Capability::matrix:
      return "matrix";
    case Capability::tensor_map:
      return "tensor_map";
    case Capability::storage_8bit:
      return "storage_8bit";
    case Capability::storage_16bit:
      return "storage_16bit";
  }
  return "unknown";
}

/// A set of capabilities.
class CapabilitySet {
 public:
  constexpr CapabilitySet() noexcept = default;
  constexpr CapabilitySet(std::initializer_list<Capability> capabilities) noexcept {
    for (const Capability capability : capabilities) set(capability);
  }

  constexpr CapabilitySet& set(Capability capability, bool on = true) noexcept {
    bits_ = on ? bits_ | bit(capability) : bits_ & ~bit(capability);
    return *this;
  }
  [[nodiscard]] constexpr bool has(Capability capability) const noexcept {
    return (bits_ & bit(capability)) != 0;
  }

  /// Those of this set that `other` lacks.
  [[nodiscard]] constexpr CapabilitySet without(CapabilitySet other) const noexcept {
    CapabilitySet missing;
    missing.bits_ = bits_ & ~other.bits_;
    return missing;
  }

  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }

  /// Names of those in the set, in the order of their values.
  [[nodiscard]] std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    for (unsigned i = 0; i < 64; ++i) {
      const auto capability = static_cast<Capability>(i);
      if (has(capability)) names.push_back(to_string(capability));
    }
    return names;
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(CapabilitySet, CapabilitySet) = default;

 private:
  static constexpr std::uint64_t bit(Capability capability) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(capability);
  }

  std::uint64_t bits_ = 0;
};

/// What a device physically is.
enum class DeviceKind : std::uint8_t {
  other = 0,
  cpu = 1,
  integrated_gpu = 2,
  discrete_gpu = 3,
  virtual_gpu = 4
};

/// Limits of a device. A launch beyond one is refused with `launch_too_many_resources`, an allocation with
/// `buffer_too_big`, both with the requested and the allowed value.
struct DeviceLimits {
  std::array<std::uint32_t, 3> workgroup_count{};  ///< Workgroups of a launch, in each dimension.
  std::array<std::uint32_t, 3> workgroup_size{};   ///< Invocations of a workgroup, in each dimension.
  std::uint32_t workgroup_invocations = 0;         ///< Invocations of a workgroup in all.
  std::uint32_t bindings = 0;                      ///< Buffer arguments of a kernel.
  std::uint32_t scalar_bytes = 0;                  ///< Bytes of a kernel's scalar block.
  std::uint32_t workgroup_memory_bytes = 0;        ///< Bytes of a workgroup's shared memory.
  std::uint32_t subgroup_size_min = 1;             ///< Invocations of a subgroup: least,
  std::uint32_t subgroup_size_max = 1;             ///< and most.
  std::uint32_t streams = 1;                       ///< Device streams that run side by side.
  std::uint64_t allocation_bytes = 0;              ///< Bytes of one allocation.
  std::uint64_t binding_bytes = 0;                 ///< Bytes of one buffer as a kernel sees it.
  std::uint64_t buffer_alignment = 1;              ///< Offsets of bindings are multiples of it, in bytes.
};

/// A further fact about a device, by name; for what this struct has no member for.
struct DeviceProperty {
  std::string name;   ///< "compute_capability", say.
  std::string value;  ///< "9.0", say.
};

/// Everything that is known of a device before it is opened.
struct DeviceProperties {
  std::string name;                     ///< The product's name, "NVIDIA H200".
  std::string vendor;                   ///< "NVIDIA", "AMD", the processor's maker.
  std::string driver;                   ///< Driver and version; empty if there is none.
  std::string pci_address;              ///< "0000:3b:00.0"; empty if it has none.
  std::string uuid;                     ///< 32 lower-case hexadecimal digits; empty if it has none.
  DeviceKind kind = DeviceKind::other;  ///< What it physically is.
  std::uint32_t compute_units = 0;      ///< Cores, multiprocessors, compute units.
  std::uint64_t memory_bytes = 0;       ///< Memory it has.
  DeviceLimits limits;                  ///< What a request may ask for.
  CapabilitySet capabilities;           ///< What it can do.
  std::vector<DeviceProperty> more;     ///< Further facts, sorted by name.
};

/// A device that a plugin offers.
struct DeviceDescription {
  DeviceId id;
  DeviceProperties properties;
};

}  // namespace backplane
