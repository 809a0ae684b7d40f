#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <backplane/contract/kernel.h>
#include <backplane/contract/result.h>
#include <backplane/export.h>

namespace backplane {

class KernelRecord;

/// A value for one specialization constant of a kernel.
struct Specialization {
  template <class T>
    requires std::is_arithmetic_v<T>
  Specialization(std::uint32_t constant_id, T value)
      : id(constant_id), bytes(static_cast<std::uint32_t>(sizeof(T))) {
    std::memcpy(&bits, &value, sizeof(T));
  }

  std::uint32_t id;        ///< `constant_id` in GLSL, SpecId in SPIR-V.
  std::uint32_t bytes;     ///< Size of the value; must be the constant's.
  std::uint64_t bits = 0;  ///< The value's bit pattern.
};

/// How a native kernel is called; there is no module to ask.
struct NativeInterface {
  std::string entry_point{};       ///< Function to run; unused for CPU functions.
  std::vector<Access> buffers{};   ///< By binding. What is declared `none` is taken as `read_write`.
  std::uint32_t scalar_bytes = 0;  ///< Bytes of the scalar block.
  WorkgroupSize workgroup_size{1, 1, 1};
  std::uint32_t workgroup_memory_bytes = 0;  ///< Shared memory a launch is to reserve.
};

/// A compute kernel: code that every backend can run (SPIR-V, GLSL), native code for some, or both. A value;
/// copies share one immutable record, and making the same kernel twice gives the same one. Any thread. Making
/// one validates and reflects it, which takes milliseconds; no device is touched.
class BACKPLANE_API Kernel {
 public:
  /// From the text of a GLSL compute shader; `#version 460` unless it says otherwise. `label` names the
  /// kernel in every error. Buffers are `binding = i` of set 0, scalars a push_constant block. Errors:
  /// `compilation` with lines of the text; `compilation_unsupported` for images, samplers and what else no
  /// backend takes.
  static Result<Kernel> from_glsl(const std::string& label, std::string_view source,
                                  ExecutionMode mode = ExecutionMode::checked);

  /// From a compute SPIR-V module for Vulkan 1.2 or older, in native word order. Errors as for `from_glsl`.
  static Result<Kernel> from_spirv(const std::string& label, std::span<const std::uint32_t> words,
                                   std::string entry_point = "main",
                                   ExecutionMode mode = ExecutionMode::checked);

  /// From a function that runs one workgroup on the CPU. Errors: `validation` for a null function or an empty
  /// workgroup.
  static Result<Kernel> from_function(std::string label, CpuFunction function, NativeInterface interface);

  /// From code in another native form. Errors: `validation` for empty code, `spirv` or `cpu_function`.
  static Result<Kernel> from_native(std::string label, KernelForm form, std::span<const std::byte> code,
                                    NativeInterface interface);

  /// This kernel with specialization constants set; the others keep their values. Errors: `validation` for an
  /// unknown id, a wrong size or a kernel that is not SPIR-V.
  [[nodiscard]] Result<Kernel> specialize(std::span<const Specialization> values) const;
  [[nodiscard]] Result<Kernel> specialize(std::initializer_list<Specialization> values) const {
    return specialize(std::span(values.begin(), values.size()));
  }

  /// This kernel where a backend takes its form, else `alternative`, whose interface must match. Errors:
  /// `validation` where it does not.
  [[nodiscard]] Result<Kernel> or_else(const Kernel& alternative) const;

  [[nodiscard]] const std::string& label() const noexcept;

  /// Buffer arguments, by binding.
  [[nodiscard]] std::span<const KernelBinding> bindings() const noexcept;
  [[nodiscard]] std::uint32_t scalar_bytes() const noexcept;
  [[nodiscard]] WorkgroupSize workgroup_size() const noexcept;

  /// The record that all copies share, for the library's own use.
  [[nodiscard]] const std::shared_ptr<const KernelRecord>& record() const noexcept { return record_; }

 private:
  explicit Kernel(std::shared_ptr<const KernelRecord> record) : record_(std::move(record)) {}

  std::shared_ptr<const KernelRecord> record_;
};

/// Workgroups of `workgroup_size` invocations that cover `invocations`, along one dimension.
[[nodiscard]] constexpr std::uint32_t workgroups_for(std::uint64_t invocations,
                                                     std::uint32_t workgroup_size) noexcept {
  return static_cast<std::uint32_t>((invocations + workgroup_size - 1) / workgroup_size);
}

}  // namespace backplane
