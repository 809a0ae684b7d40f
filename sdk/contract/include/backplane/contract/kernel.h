#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <backplane/contract/bytes.h>
#include <backplane/contract/device.h>
#include <backplane/contract/id.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/tensor_map.h>

namespace backplane {

/// What a kernel's code is written in. Unknown values are refused by name of their number.
enum class KernelForm : std::uint8_t {
  spirv = 0,         ///< A compute SPIR-V module, validated and specialised.
  cpu_function = 1,  ///< `KernelDefinition::function`.
  ptx = 2,
  cubin = 3,
  cuda_cpp = 4,
  code_object = 5,  ///< AMD.
  hip_cpp = 6,
};

/// What a kernel does with a buffer.
enum class Access : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

[[nodiscard]] constexpr bool reads(Access access) noexcept {
  return (static_cast<unsigned>(access) & 1U) != 0;
}
[[nodiscard]] constexpr bool writes(Access access) noexcept {
  return (static_cast<unsigned>(access) & 2U) != 0;
}

/// What happens to an index beyond its buffer.
enum class ExecutionMode : std::uint8_t {
  checked = 0,    ///< It is clamped inside the buffer: the default.
  validate = 1,   ///< It is reported, with kernel, binding and index.
  unchecked = 2,  ///< Nothing looks; the behaviour is undefined.
};

/// Invocations of a workgroup, in each dimension; none is 0.
using WorkgroupSize = std::array<std::uint32_t, 3>;

/// A buffer argument of a kernel.
struct KernelBinding {
  Access access = Access::read_write;
  std::uint64_t minimum_bytes = 0;  ///< A launch that binds less is refused.
};

/// What a native CPU kernel is called with, once a workgroup.
struct CpuWorkgroup {
  std::span<const std::span<std::byte>> buffers;  ///< By binding.
  std::span<const std::byte> scalars;             ///< The scalar block.
  std::array<std::uint32_t, 3> id;                ///< This workgroup.
  std::array<std::uint32_t, 3> count;             ///< Workgroups of the launch.
  WorkgroupSize size;                             ///< As the kernel declared it.
};

/// A native CPU kernel: runs all invocations of one workgroup. Called by several threads at once, for
/// different workgroups; must not throw.
using CpuFunction = void (*)(const CpuWorkgroup& workgroup);

/// A kernel as a plugin sees it: the form it accepted, already specialised and reflected. Owned by the host,
/// immutable, alive as long as anything that was handed it.
struct KernelDefinition {
  KernelId id;              ///< Hash of code, specialisation and mode.
  std::string label;        ///< Shown in every error and trace.
  std::string entry_point;  ///< Function to run; unused for `cpu_function`.
  KernelForm form = KernelForm::spirv;
  ExecutionMode mode = ExecutionMode::checked;
  bool has_info = false;                     ///< The last binding is the generated info buffer.
  CpuFunction function = nullptr;            ///< For `cpu_function`.
  std::vector<std::byte> code;               ///< The code, for every other form; SPIR-V in native word order.
  std::vector<KernelBinding> bindings;       ///< Buffer arguments, by binding number.
  std::uint32_t scalar_bytes = 0;            ///< Bytes of the scalar block.
  std::uint64_t workgroup_memory_bytes = 0;  ///< Bytes of shared memory, as declared.
  WorkgroupSize workgroup_size{1, 1, 1};
  CapabilitySet requires_capabilities;  ///< What the code uses.
};

/// What a compiler made of a kernel: bytes that depend on nothing but the kernel and the compiler's
/// fingerprint, so that they may be stored and loaded by another process. Immutable.
struct Artifact {
  std::vector<std::byte> code;
};

/// A kernel to launch. Borrowed for the call; whatever it points to lives as long as the server.
struct KernelRef {
  const KernelDefinition* definition;  ///< Never null.
  const Artifact* artifact;            ///< Never null; what this device's `ICompiler` made of the definition.
  std::uint32_t index;  ///< Dense, from 0, one for each kernel: a server keeps what it loaded under it.
};

/// How many workgroups a launch has: three numbers, or a buffer that will hold three 32-bit numbers when the
/// launch runs.
struct WorkgroupCount {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  BufferBinding
      indirect{};  ///< 12 bytes, read by the launch; where its allocation is null, x, y and z count.

  [[nodiscard]] bool is_indirect() const noexcept { return indirect.allocation != nullptr; }
};

/// The arguments of a launch. Views, dead when the call returns.
struct KernelArguments {
  std::span<const BufferBinding> buffers;  ///< By binding, as many as the kernel has (without info).
  std::span<const std::byte> scalars;      ///< The scalar block, exactly its size.
  std::span<const std::byte> info;         ///< The info buffer's contents; empty if the kernel has none.
  std::span<const TensorMapArgument> tensor_maps;  ///< In the order in which the kernel declares them.
};

/// What a launch does.
enum class LaunchMode : std::uint8_t {
  execute = 0,
  skip = 1,  ///< Load, validate and fill every cache, but dispatch nothing and lift no claim.
};

}  // namespace backplane
