#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <backplane/contract/kernel.h>
#include <backplane/contract/result.h>

namespace backplane {

/// A specialization constant a module declares.
struct SpecializationConstant {
  std::uint32_t id;     ///< Its SpecId.
  std::uint32_t bytes;  ///< 1 for a boolean, else the size of its type.
};

/// What a compute module says about itself.
struct Reflection {
  std::vector<KernelBinding> bindings;  ///< By binding number; gaps have `Access::none`.
  std::uint32_t scalar_bytes = 0;
  std::uint64_t workgroup_memory_bytes = 0;
  WorkgroupSize workgroup_size{1, 1, 1};
  bool has_barrier = false;
};

/// The specialization constants a valid module declares, by id. Any thread.
std::vector<SpecializationConstant> specialization_constants(std::span<const std::uint32_t> words);

/// What a valid module asks of a device, by its declared capabilities. Any thread. Error:
/// `compilation_unsupported` for one that no backend takes, by name.
Result<CapabilitySet> required_capabilities(const std::string& label, std::span<const std::uint32_t> words);

/// Reads the interface of a compute entry point of a specialised module: bindings and how they are accessed,
/// the push-constant block, shared memory, workgroup size. Any thread. Requires a valid module.
/// Errors: `compilation` where the entry point does not exist; `compilation_unsupported` for a capability, a
/// storage class or a descriptor set that no backend takes, by name.
Result<Reflection> reflect(const std::string& label, std::span<const std::uint32_t> words,
                           const std::string& entry_point);

}  // namespace backplane
