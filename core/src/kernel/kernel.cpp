#include <algorithm>
#include <utility>

#include <backplane/kernel.h>

#include "kernel/glsl.h"
#include "kernel/kernel_record.h"
#include "kernel/reflection.h"
#include "kernel/spirv.h"

namespace backplane {
namespace {

/// Specialises, checks and reflects a module.
Result<KernelDefinition> define_spirv(const std::string& label, std::span<const std::uint32_t> words,
                                      std::span<const SpecializationWords> values, std::string entry_point,
                                      ExecutionMode mode) {
  BACKPLANE_TRY(CapabilitySet capabilities, required_capabilities(label, words));
  BACKPLANE_TRY(const std::vector<std::uint32_t> finished, finish_spirv(label, words, values, mode));
  BACKPLANE_TRY(Reflection reflection, reflect(label, finished, entry_point));
  KernelDefinition definition;
  definition.label = label;
  definition.entry_point = std::move(entry_point);
  definition.form = KernelForm::spirv;
  definition.mode = mode;
  const std::span<const std::byte> code = std::as_bytes(std::span(finished));
  definition.code.assign(code.begin(), code.end());
  definition.bindings = std::move(reflection.bindings);
  definition.scalar_bytes = reflection.scalar_bytes;
  definition.workgroup_memory_bytes = reflection.workgroup_memory_bytes;
  definition.workgroup_size = reflection.workgroup_size;
  definition.requires_capabilities = capabilities.set(Capability::barrier, reflection.has_barrier);
  definition.id = kernel_id(definition);
  return definition;
}

Result<KernelDefinition> define_native(std::string label, KernelForm form, NativeInterface interface) {
  if (std::ranges::find(interface.workgroup_size, 0U) != interface.workgroup_size.end()) {
    return Error(ErrorCode::validation,
                 "Kernel \"" + label + "\" has an empty workgroup; every dimension is at least 1.");
  }
  KernelDefinition definition;
  definition.label = std::move(label);
  definition.entry_point = std::move(interface.entry_point);
  definition.form = form;
  definition.mode = ExecutionMode::unchecked;  // nothing can be added to native code
  for (const Access access : interface.buffers) {
    definition.bindings.push_back({access == Access::none ? Access::read_write : access, 0});
  }
  definition.scalar_bytes = interface.scalar_bytes;
  definition.workgroup_memory_bytes = interface.workgroup_memory_bytes;
  definition.workgroup_size = interface.workgroup_size;
  return definition;
}

std::shared_ptr<const KernelRecord> intern(KernelDefinition definition,
                                           std::vector<std::uint32_t> unspecialized = {}) {
  std::vector<KernelDefinition> definitions;
  definitions.push_back(std::move(definition));
  return KernelRecord::intern({std::move(definitions), std::move(unspecialized)});
}

/// "0 (4 bytes), 3 (8 bytes)", for messages.
std::string list_constants(std::span<const SpecializationConstant> constants) {
  std::string text;
  for (const SpecializationConstant& constant : constants) {
    if (!text.empty()) text += ", ";
    text += std::to_string(constant.id) + " (" + std::to_string(constant.bytes) + " bytes)";
  }
  return text.empty() ? "none" : text;
}

Result<SpecializationWords> check_value(const std::string& label, const Specialization& value,
                                        std::span<const SpecializationConstant> constants) {
  const auto constant = std::ranges::find(constants, value.id, &SpecializationConstant::id);
  if (constant == constants.end() || constant->bytes != value.bytes) {
    return Error(ErrorCode::validation, "Kernel \"" + label + "\" has no specialization constant " +
                                            std::to_string(value.id) + " of " + std::to_string(value.bytes) +
                                            " bytes; it has: " + list_constants(constants) + ".");
  }
  SpecializationWords words{value.id, {static_cast<std::uint32_t>(value.bits)}};
  if (value.bytes == 8) words.words.push_back(static_cast<std::uint32_t>(value.bits >> 32U));
  return words;
}

bool same_interface(const KernelDefinition& a, const KernelDefinition& b) {
  const auto access = [](const KernelBinding& binding) { return binding.access; };
  return a.scalar_bytes == b.scalar_bytes && std::ranges::equal(a.bindings, b.bindings, {}, access, access);
}

}  // namespace

Result<Kernel> Kernel::from_glsl(const std::string& label, std::string_view source, ExecutionMode mode) {
  BACKPLANE_TRY(const std::vector<std::uint32_t> words, compile_glsl(label, source));
  return from_spirv(label, words, "main", mode);
}

Result<Kernel> Kernel::from_spirv(const std::string& label, std::span<const std::uint32_t> words,
                                  std::string entry_point, ExecutionMode mode) {
  BACKPLANE_CHECK(validate_spirv(label, words));
  BACKPLANE_TRY(KernelDefinition definition, define_spirv(label, words, {}, std::move(entry_point), mode));
  return Kernel(intern(std::move(definition), {words.begin(), words.end()}));
}

Result<Kernel> Kernel::from_function(std::string label, CpuFunction function, NativeInterface interface) {
  if (function == nullptr) {
    return Error(ErrorCode::validation,
                 "Kernel \"" + label + "\" has no function; pass one that is not null.");
  }
  BACKPLANE_TRY(KernelDefinition definition,
                define_native(std::move(label), KernelForm::cpu_function, std::move(interface)));
  definition.function = function;
  definition.id = kernel_id(definition);
  return Kernel(intern(std::move(definition)));
}

Result<Kernel> Kernel::from_native(std::string label, KernelForm form, std::span<const std::byte> code,
                                   NativeInterface interface) {
  if (form == KernelForm::spirv || form == KernelForm::cpu_function || code.empty()) {
    return Error(ErrorCode::validation,
                 "Kernel \"" + label +
                     "\" needs code in a native form; use from_spirv or from_function for the others.");
  }
  BACKPLANE_TRY(KernelDefinition definition, define_native(std::move(label), form, std::move(interface)));
  definition.code.assign(code.begin(), code.end());
  definition.id = kernel_id(definition);
  return Kernel(intern(std::move(definition)));
}

Result<Kernel> Kernel::specialize(std::span<const Specialization> values) const {
  const std::span<const std::uint32_t> words = record_->unspecialized();
  if (words.empty()) {
    return Error(
        ErrorCode::validation,
        "Kernel \"" + label() + "\" cannot be specialised; only kernels made of SPIR-V or GLSL can.");
  }
  const std::vector<SpecializationConstant> constants = specialization_constants(words);
  std::vector<SpecializationWords> checked;
  for (const Specialization& value : values) {
    BACKPLANE_TRY(SpecializationWords word, check_value(label(), value, constants));
    checked.push_back(std::move(word));
  }
  const KernelDefinition& base = record_->interface();
  BACKPLANE_TRY(KernelDefinition definition,
                define_spirv(label(), words, checked, base.entry_point, base.mode));
  return Kernel(intern(std::move(definition), {words.begin(), words.end()}));
}

Result<Kernel> Kernel::or_else(const Kernel& alternative) const {
  if (!same_interface(record_->interface(), alternative.record_->interface())) {
    return Error(ErrorCode::validation, "Kernel \"" + alternative.label() + "\" cannot stand in for \"" +
                                            label() + "\": their buffers or scalars differ.");
  }
  std::vector<KernelDefinition> definitions(record_->definitions().begin(), record_->definitions().end());
  for (KernelDefinition definition : alternative.record_->definitions()) {
    definition.label = label();
    definitions.push_back(std::move(definition));
  }
  return Kernel(KernelRecord::intern({std::move(definitions), {}}));
}

const std::string& Kernel::label() const noexcept {
  return record_->interface().label;
}
std::span<const KernelBinding> Kernel::bindings() const noexcept {
  return record_->interface().bindings;
}
std::uint32_t Kernel::scalar_bytes() const noexcept {
  return record_->interface().scalar_bytes;
}
WorkgroupSize Kernel::workgroup_size() const noexcept {
  return record_->interface().workgroup_size;
}

}  // namespace backplane
