#include "kernel/reflection.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernel/spirv.h"
#include "kernel/spirv_module.h"

namespace backplane {
namespace {

/// What a SPIR-V capability asks of a device; nothing where every device has it.
struct KnownCapability {
  spv::Capability spirv;
  std::optional<Capability> device;
};

constexpr std::array kKnownCapabilities{
    KnownCapability{spv::Capability::Matrix, std::nullopt},
    KnownCapability{spv::Capability::Shader, std::nullopt},
    KnownCapability{spv::Capability::VulkanMemoryModel, std::nullopt},
    KnownCapability{spv::Capability::VulkanMemoryModelDeviceScope, std::nullopt},
    KnownCapability{spv::Capability::SignedZeroInfNanPreserve, std::nullopt},
    KnownCapability{spv::Capability::Int8, Capability::int8},
    KnownCapability{spv::Capability::Int16, Capability::int16},
    KnownCapability{spv::Capability::Int64, Capability::int64},
    KnownCapability{spv::Capability::Float16, Capability::float16},
    KnownCapability{spv::Capability::Float64, Capability::float64},
    KnownCapability{spv::Capability::StorageBuffer8BitAccess, Capability::storage_8bit},
    KnownCapability{spv::Capability::UniformAndStorageBuffer8BitAccess, Capability::storage_8bit},
    KnownCapability{spv::Capability::StoragePushConstant8, Capability::storage_8bit},
    KnownCapability{spv::Capability::StorageBuffer16BitAccess, Capability::storage_16bit},
    KnownCapability{spv::Capability::UniformAndStorageBuffer16BitAccess, Capability::storage_16bit},
    KnownCapability{spv::Capability::StoragePushConstant16, Capability::storage_16bit},
    KnownCapability{spv::Capability::Int64Atomics, Capability::atomic_int64},
    KnownCapability{spv::Capability::AtomicFloat32AddEXT, Capability::atomic_float_add},
    KnownCapability{spv::Capability::GroupNonUniform, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformVote, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformArithmetic, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformBallot, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformShuffle, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformShuffleRelative, Capability::subgroup},
    KnownCapability{spv::Capability::GroupNonUniformClustered, Capability::subgroup},
};

Access operator|(Access a, Access b) {
  return static_cast<Access>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// Follows every pointer that is read or written back to the variable it was derived from.
class AccessScan {
 public:
  explicit AccessScan(const SpirvModule& module, std::uint32_t entry) : module_(module) {
    index_functions();
    visit(entry);
  }

  /// Accesses by variable id; a variable that is absent is not touched.
  [[nodiscard]] std::unordered_map<std::uint32_t, Access> run() const {
    std::unordered_map<std::uint32_t, Access> accesses;
    for (const auto& [pointer, access] : touched_) {
      std::unordered_set<std::uint32_t> seen;
      propagate(pointer, access, seen, accesses);
    }
    return accesses;
  }

  [[nodiscard]] bool has_barrier() const noexcept { return has_barrier_; }

 private:
  struct Function {
    std::vector<std::uint32_t> parameters;
    std::vector<const SpirvInstruction*> body;
    bool visited = false;
  };

  void index_functions() {
    Function* current = nullptr;
    for (const SpirvInstruction& instruction : module_.instructions()) {
      if (instruction.opcode == spv::Op::OpFunction) current = &functions_[instruction.result_id];
      if (current == nullptr) continue;
      if (instruction.opcode == spv::Op::OpFunctionParameter)
        current->parameters.push_back(instruction.result_id);
      current->body.push_back(&instruction);
      if (instruction.opcode == spv::Op::OpFunctionEnd) current = nullptr;
    }
  }

  void visit(std::uint32_t function_id) {
    Function& function = functions_[function_id];
    if (std::exchange(function.visited, true)) return;
    for (const SpirvInstruction* instruction : function.body) visit(*instruction);
  }

  void visit(const SpirvInstruction& instruction) {
    const std::span<const std::uint32_t> words = instruction.words;
    switch (instruction.opcode) {
      case spv::Op::OpAccessChain:
      case spv::Op::OpInBoundsAccessChain:
      case spv::Op::OpPtrAccessChain:
      case spv::Op::OpCopyObject:
        bases_[instruction.result_id].push_back(words[3]);
        break;
      case spv::Op::OpFunctionCall:
        visit_call(words);
        break;
      case spv::Op::OpLoad:
      case spv::Op::OpAtomicLoad:
        touched_.emplace_back(words[3], Access::read);
        break;
      case spv::Op::OpStore:
      case spv::Op::OpAtomicStore:
        touched_.emplace_back(words[1], Access::write);
        break;
      case spv::Op::OpCopyMemory:
      case spv::Op::OpCopyMemorySized:
        touched_.emplace_back(words[1], Access::write);
        touched_.emplace_back(words[2], Access::read);
        break;
      case spv::Op::OpControlBarrier:
        has_barrier_ = true;
        break;
      default:
        if (is_atomic_update(instruction.opcode)) touched_.emplace_back(words[3], Access::read_write);
    }
  }

  void visit_call(std::span<const std::uint32_t> words) {
    visit(words[3]);
    const std::vector<std::uint32_t>& parameters = functions_[words[3]].parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) bases_[parameters[i]].push_back(words[4 + i]);
  }

  static bool is_atomic_update(spv::Op opcode) {
    return (opcode >= spv::Op::OpAtomicExchange && opcode <= spv::Op::OpAtomicXor) ||
           opcode == spv::Op::OpAtomicFAddEXT || opcode == spv::Op::OpAtomicFMinEXT ||
           opcode == spv::Op::OpAtomicFMaxEXT;
  }

  void propagate(std::uint32_t pointer, Access access, std::unordered_set<std::uint32_t>& seen,
                 std::unordered_map<std::uint32_t, Access>& accesses) const {
    if (!seen.insert(pointer).second) return;
    Access& known = accesses.try_emplace(pointer, Access::none).first->second;
    known = known | access;
    const auto found = bases_.find(pointer);
    if (found == bases_.end()) return;
    for (const std::uint32_t base : found->second) propagate(base, access, seen, accesses);
  }

  const SpirvModule& module_;
  std::unordered_map<std::uint32_t, Function> functions_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> bases_;
  std::vector<std::pair<std::uint32_t, Access>> touched_;
  bool has_barrier_ = false;
};

/// The name of the capability that an OpCapability declares, which only the disassembler knows.
std::string capability_name(std::span<const std::uint32_t> module, const SpirvInstruction& capability) {
  // A header and this one instruction are a module as far as the disassembler is concerned.
  std::vector<std::uint32_t> words(module.begin(), module.begin() + 5);
  words.insert(words.end(), capability.words.begin(), capability.words.end());
  constexpr std::string_view kOpcode = "OpCapability ";
  const std::string text = disassemble_spirv(words);
  const std::size_t begin = text.rfind(kOpcode);
  if (begin == std::string::npos) return std::to_string(capability.words[1]);
  return text.substr(begin + kOpcode.size(), text.find('\n', begin) - begin - kOpcode.size());
}

/// Reads one entry point of a module; see `reflect`.
class Reflector {
 public:
  Reflector(const std::string& label, std::span<const std::uint32_t> words) : label_(label), module_(words) {}

  Result<Reflection> run(const std::string& entry_point) {
    const std::optional<std::uint32_t> entry = find_entry_point(entry_point);
    if (!entry) {
      return Error(ErrorCode::compilation,
                   "Kernel \"" + label_ + "\" has no compute entry point \"" + entry_point + "\".");
    }
    read_workgroup_size(*entry);
    BACKPLANE_CHECK(read_variables(*entry));
    return std::move(reflection_);
  }

 private:
  Error unsupported(const std::string& what) const {
    return {ErrorCode::compilation_unsupported, "Kernel \"" + label_ + "\" uses " + what + "."};
  }

  std::optional<std::uint32_t> find_entry_point(const std::string& name) const {
    for (const SpirvInstruction& instruction : module_.instructions()) {
      if (instruction.opcode != spv::Op::OpEntryPoint) continue;
      const bool compute = instruction.words[1] == static_cast<std::uint32_t>(spv::ExecutionModel::GLCompute);
      if (compute && read_string(instruction.words.subspan(3)).text == name) return instruction.words[2];
    }
    return std::nullopt;
  }

  void read_workgroup_size(std::uint32_t entry) {
    for (const SpirvInstruction& instruction : module_.instructions()) {
      const std::span<const std::uint32_t> words = instruction.words;
      if (instruction.opcode == spv::Op::OpExecutionMode && words[1] == entry &&
          words[2] == static_cast<std::uint32_t>(spv::ExecutionMode::LocalSize)) {
        reflection_.workgroup_size = {words[3], words[4], words[5]};
      } else if (instruction.opcode == spv::Op::OpExecutionModeId && words[1] == entry &&
                 words[2] == static_cast<std::uint32_t>(spv::ExecutionMode::LocalSizeId)) {
        set_workgroup_size(words.subspan(3));
      } else if (instruction.opcode == spv::Op::OpConstantComposite && words.size() == 6 &&
                 module_.decoration(instruction.result_id, spv::Decoration::BuiltIn) ==
                     static_cast<std::uint32_t>(spv::BuiltIn::WorkgroupSize)) {
        set_workgroup_size(words.subspan(3));  // overrides the execution mode, wherever it stands
        return;
      }
    }
  }

  void set_workgroup_size(std::span<const std::uint32_t> constants) {
    for (std::size_t i = 0; i < 3; ++i) {
      reflection_.workgroup_size[i] = static_cast<std::uint32_t>(module_.constant(constants[i]));
    }
  }

  Result<void> read_variables(std::uint32_t entry) {
    const AccessScan scan(module_, entry);
    reflection_.has_barrier = scan.has_barrier();
    const std::unordered_map<std::uint32_t, Access> accesses = scan.run();
    for (const SpirvInstruction& instruction : module_.instructions()) {
      if (instruction.opcode == spv::Op::OpFunction) break;  // variables of functions are not the interface's
      if (instruction.opcode != spv::Op::OpVariable) continue;
      const auto found = accesses.find(instruction.result_id);
      BACKPLANE_CHECK(read_variable(instruction, found == accesses.end() ? Access::none : found->second));
    }
    return {};
  }

  Result<void> read_variable(const SpirvInstruction& variable, Access access) {
    const std::uint32_t pointee = module_.definition(variable.type_id).words[3];
    switch (static_cast<spv::StorageClass>(variable.words[3])) {
      case spv::StorageClass::StorageBuffer:
        return read_buffer(variable, pointee, access);
      case spv::StorageClass::PushConstant:
        reflection_.scalar_bytes = static_cast<std::uint32_t>(module_.explicit_size(pointee));
        return {};
      case spv::StorageClass::Workgroup:
        reflection_.workgroup_memory_bytes += module_.natural_size(pointee);
        return {};
      case spv::StorageClass::Input:
      case spv::StorageClass::Private:
        return {};
      case spv::StorageClass::Uniform:
        return unsupported("a uniform block; pass small values in a push_constant block, others in a buffer");
      case spv::StorageClass::UniformConstant:
        return unsupported("an image or a sampler, which no backend supports");
      default:
        return unsupported("the SPIR-V storage class " + std::to_string(variable.words[3]));
    }
  }

  Result<void> read_buffer(const SpirvInstruction& variable, std::uint32_t pointee, Access access) {
    if (module_.definition(pointee).opcode != spv::Op::OpTypeStruct) {
      return unsupported("an array of buffers, which no backend supports");
    }
    const std::uint32_t set =
        module_.decoration(variable.result_id, spv::Decoration::DescriptorSet).value_or(0);
    if (set != 0) return unsupported("descriptor set " + std::to_string(set) + "; buffers belong in set 0");
    const std::uint32_t number = module_.decoration(variable.result_id, spv::Decoration::Binding).value_or(0);
    if (number >= kMaximumBindings) {
      return unsupported("binding " + std::to_string(number) + "; numbers are below " +
                         std::to_string(kMaximumBindings));
    }
    if (number >= reflection_.bindings.size()) {
      reflection_.bindings.resize(number + 1, KernelBinding{Access::none, 0});
    }
    KernelBinding& binding = reflection_.bindings[number];  // two variables may name one buffer
    binding.access = binding.access | access;
    binding.minimum_bytes = std::max(binding.minimum_bytes, module_.explicit_size(pointee));
    return {};
  }

  // No device in sight takes more buffers, and a wild number must not become a wild table.
  static constexpr std::uint32_t kMaximumBindings = 1024;

  const std::string& label_;
  SpirvModule module_;
  Reflection reflection_;
};

}  // namespace

std::vector<SpecializationConstant> specialization_constants(std::span<const std::uint32_t> words) {
  const SpirvModule module(words);
  std::vector<SpecializationConstant> constants;
  for (const SpirvInstruction& instruction : module.instructions()) {
    const bool boolean = instruction.opcode == spv::Op::OpSpecConstantTrue ||
                         instruction.opcode == spv::Op::OpSpecConstantFalse;
    if (!boolean && instruction.opcode != spv::Op::OpSpecConstant) continue;
    const std::optional<std::uint32_t> id = module.decoration(instruction.result_id, spv::Decoration::SpecId);
    if (!id) continue;
    const std::uint64_t bytes = boolean ? 1 : module.natural_size(instruction.type_id);
    constants.push_back({*id, static_cast<std::uint32_t>(bytes)});
  }
  std::ranges::sort(constants, {}, &SpecializationConstant::id);
  return constants;
}

Result<CapabilitySet> required_capabilities(const std::string& label, std::span<const std::uint32_t> words) {
  const SpirvModule module(words);
  CapabilitySet capabilities;
  for (const SpirvInstruction& instruction : module.instructions()) {
    if (instruction.opcode != spv::Op::OpCapability) continue;
    const auto capability = static_cast<spv::Capability>(instruction.words[1]);
    const auto* known = std::ranges::find(kKnownCapabilities, capability, &KnownCapability::spirv);
    if (known == kKnownCapabilities.end()) {
      return Error(ErrorCode::compilation_unsupported,
                   "Kernel \"" + label + "\" uses the SPIR-V capability " +
                       capability_name(words, instruction) + ", which no backend supports.");
    }
    if (known->device) capabilities.set(*known->device);
  }
  return capabilities;
}

Result<Reflection> reflect(const std::string& label, std::span<const std::uint32_t> words,
                           const std::string& entry_point) {
  return Reflector(label, words).run(entry_point);
}

}  // namespace backplane
