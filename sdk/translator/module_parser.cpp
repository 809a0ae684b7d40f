#define SPV_ENABLE_UTILITY_CODE
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <spirv/unified1/spirv.hpp11>

#include "failure.h"
#include "module.h"
#include "names.h"

namespace backplane::translator {
namespace {

constexpr std::size_t kHeaderWords = 5;
// The specification's own limit on ids; it also bounds what a hostile header can make us believe.
constexpr std::uint32_t kMaxBound = 4'194'304;

bool is_supported(spv::Capability capability) {
  using enum spv::Capability;
  static constexpr spv::Capability kSupported[] = {Matrix,
                                                   Shader,
                                                   Float16,
                                                   Float64,
                                                   Int8,
                                                   Int16,
                                                   Int64,
                                                   Int64Atomics,
                                                   StorageBuffer16BitAccess,
                                                   UniformAndStorageBuffer16BitAccess,
                                                   StoragePushConstant16,
                                                   StorageBuffer8BitAccess,
                                                   UniformAndStorageBuffer8BitAccess,
                                                   StoragePushConstant8,
                                                   AtomicFloat32AddEXT,
                                                   AtomicFloat64AddEXT,
                                                   AtomicFloat32MinMaxEXT,
                                                   AtomicFloat64MinMaxEXT,
                                                   VulkanMemoryModel,
                                                   VulkanMemoryModelDeviceScope,
                                                   SignedZeroInfNanPreserve,
                                                   DenormPreserve,
                                                   RoundingModeRTE,
                                                   WorkgroupMemoryExplicitLayoutKHR,
                                                   WorkgroupMemoryExplicitLayout8BitAccessKHR,
                                                   WorkgroupMemoryExplicitLayout16BitAccessKHR};
  return std::ranges::count(kSupported, capability) != 0;
}

bool is_terminator(spv::Op opcode) {
  using enum spv::Op;
  static constexpr spv::Op kTerminators[] = {OpBranch,      OpBranchConditional,  OpSwitch,
                                             OpReturn,      OpReturnValue,        OpKill,
                                             OpUnreachable, OpTerminateInvocation};
  return std::ranges::count(kTerminators, opcode) != 0;
}

bool is_debug(spv::Op opcode) {
  using enum spv::Op;
  static constexpr spv::Op kIgnored[] = {
      OpNop,         OpSource,         OpSourceContinued,     OpSourceExtension,
      OpName,        OpMemberName,     OpExtension,           OpModuleProcessed,
      OpMemoryModel, OpDecorateString, OpMemberDecorateString};
  return std::ranges::count(kIgnored, opcode) != 0;
}

}  // namespace

/// Reads the words into the module, front to back.
struct Module::Parser {
  Module& module;
  std::string_view wanted;
  std::unordered_map<Id, std::string_view> strings = {};
  std::unordered_set<Id> defined = {};
  SourceLine line = {};
  Function* function = nullptr;
  std::uint32_t bound = 0;

  void parse() {
    read_header();
    std::size_t position = kHeaderWords;
    while (position < module.words_.size()) {
      position += read_instruction(position);
    }
    if (function != nullptr) {
      fail_malformed("the module ends within a function");
    }
    if (module.entry_point_ == 0) {
      fail_malformed("the module has no GLCompute entry point \"" + std::string(wanted) + "\"");
    }
    if (!module.functions_.contains(module.entry_point_)) {
      fail_malformed("the entry point's function is missing");
    }
  }

  void read_header() {
    std::vector<std::uint32_t>& words = module.words_;
    if (words.size() < kHeaderWords) {
      fail_malformed("a module has at least five words");
    }
    if (words[0] == __builtin_bswap32(spv::MagicNumber)) {
      std::ranges::transform(words, words.begin(),
                             [](std::uint32_t word) { return __builtin_bswap32(word); });
    }
    if (words[0] != spv::MagicNumber) {
      fail_malformed("the words do not start with SPIR-V's magic number");
    }
    bound = words[3];
    if (bound == 0 || bound > kMaxBound) {
      fail_malformed("the bound of ids, " + std::to_string(bound) + ", is outside 1 to " +
                     std::to_string(kMaxBound));
    }
  }

  /// Reads the instruction at `position` and answers its length in words.
  std::size_t read_instruction(std::size_t position) {
    const std::span<const std::uint32_t> words(module.words_);
    const std::size_t length = words[position] >> spv::WordCountShift;
    Instruction instruction;
    instruction.opcode = static_cast<spv::Op>(words[position] & spv::OpCodeMask);
    instruction.line = line;
    if (length == 0 || length > words.size() - position) {
      fail_malformed(instruction, "its length runs over the end of the module");
    }
    instruction.operands = words.subspan(position + 1, length - 1);
    take_result(instruction);
    if (function != nullptr || instruction.opcode == spv::Op::OpFunction) {
      read_in_function(instruction);
    } else {
      read_in_module(instruction);
    }
    return length;
  }

  void take_result(Instruction& instruction) {
    bool has_result = false;
    bool has_type = false;
    spv::HasResultAndType(instruction.opcode, &has_result, &has_type);
    const std::size_t count = (has_result ? 1U : 0U) + (has_type ? 1U : 0U);
    if (instruction.operands.size() < count) {
      fail_malformed(instruction, "its result is missing");
    }
    if (has_type) {
      instruction.type = instruction.operands[0];
    }
    if (has_result) {
      const Id result = instruction.operands[count - 1];
      if (result == 0 || result >= bound) {
        fail_malformed(instruction, "id " + std::to_string(result) + " is outside the module's bound");
      }
      if (!defined.insert(result).second) {
        fail_malformed(instruction, "id " + std::to_string(result) + " is defined twice");
      }
      instruction.result = result;
    }
    instruction.operands = instruction.operands.subspan(count);
  }

  bool read_line(const Instruction& instruction) {
    if (instruction.opcode == spv::Op::OpLine) {
      const auto file = strings.find(instruction.operand(0));
      line = {.file = file == strings.end() ? std::string_view("?") : file->second,
              .number = instruction.operand(1)};
      return true;
    }
    if (instruction.opcode == spv::Op::OpNoLine) {
      line = {};
      return true;
    }
    return is_debug(instruction.opcode);
  }

  void read_in_module(const Instruction& instruction) {
    if (read_line(instruction)) {
      return;
    }
    switch (instruction.opcode) {
      case spv::Op::OpCapability:
        read_capability(instruction);
        break;
      case spv::Op::OpString:
        strings[instruction.result] = literal_string(instruction.operands);
        break;
      case spv::Op::OpExtInstImport:
        read_import(instruction);
        break;
      case spv::Op::OpEntryPoint:
        read_entry_point(instruction);
        break;
      case spv::Op::OpExecutionMode:
      case spv::Op::OpExecutionModeId:
        module
            .execution_modes_[{instruction.operand(0),
                               static_cast<spv::ExecutionMode>(instruction.operand(1))}]
            .assign(instruction.operands.begin() + 2, instruction.operands.end());
        break;
      case spv::Op::OpDecorate:
      case spv::Op::OpDecorateId:
        module.decorations_[instruction.operand(0)].push_back(
            {static_cast<spv::Decoration>(instruction.operand(1)), instruction.operands.subspan(2)});
        break;
      case spv::Op::OpMemberDecorate:
        instruction.operand(2);
        module.member_decorations_[{instruction.operands[0], instruction.operands[1]}].push_back(
            {static_cast<spv::Decoration>(instruction.operands[2]), instruction.operands.subspan(3)});
        break;
      default:
        read_global(instruction);
    }
  }

  void read_capability(const Instruction& instruction) const {
    const auto capability = static_cast<spv::Capability>(instruction.operand(0));
    if (!is_supported(capability)) {
      fail_unsupported(instruction, "capability " + capability_name(capability) + " is not supported");
    }
  }

  void read_import(const Instruction& instruction) const {
    const std::string_view name = literal_string(instruction.operands);
    if (name == "GLSL.std.450") {
      module.glsl_set_ = instruction.result;
    } else if (name.starts_with("NonSemantic.")) {
      module.non_semantic_sets_.push_back(instruction.result);
    } else {
      fail_unsupported(instruction, "instruction set \"" + std::string(name) + "\" is not supported");
    }
  }

  void read_entry_point(const Instruction& instruction) const {
    instruction.operand(2);
    const bool is_compute =
        instruction.operands[0] == static_cast<std::uint32_t>(spv::ExecutionModel::GLCompute);
    if (is_compute && literal_string(instruction.operands.subspan(2)) == wanted) {
      module.entry_point_ = instruction.operands[1];
    }
  }

  void read_global(const Instruction& instruction) const {
    if (instruction.result == 0) {
      fail_unsupported(instruction, "this instruction is not supported outside functions");
    }
    if (instruction.opcode == spv::Op::OpExtInst && module.is_non_semantic_set(instruction.operand(0))) {
      return;
    }
    module.global_index_[instruction.result] = module.globals_.size();
    module.globals_.push_back(instruction);
  }

  void read_in_function(const Instruction& instruction) {
    if (read_line(instruction)) {
      return;
    }
    switch (instruction.opcode) {
      case spv::Op::OpFunction:
        if (function != nullptr) {
          fail_malformed(instruction, "a function within a function");
        }
        function = &module.functions_[instruction.result];
        function->definition = instruction;
        break;
      case spv::Op::OpFunctionParameter:
        function->parameters.push_back(instruction);
        break;
      case spv::Op::OpFunctionEnd:
        end_function(instruction);
        break;
      case spv::Op::OpLabel:
        if (!block_is_closed()) {
          fail_malformed(instruction, "the block before it has no end");
        }
        function->blocks.push_back({.label = instruction.result, .instructions = {}});
        break;
      default:
        if (function->blocks.empty() || block_is_closed()) {
          fail_malformed(instruction, "an instruction outside any block");
        }
        function->blocks.back().instructions.push_back(instruction);
    }
  }

  bool block_is_closed() const {
    if (function->blocks.empty()) {
      return true;
    }
    const auto& instructions = function->blocks.back().instructions;
    return !instructions.empty() && is_terminator(instructions.back().opcode);
  }

  void end_function(const Instruction& instruction) {
    if (function->blocks.empty()) {
      fail_unsupported(function->definition, "a function without a body");
    }
    if (!block_is_closed()) {
      fail_malformed(instruction, "the last block has no end");
    }
    function = nullptr;
    line = {};
  }
};

Module::Module(std::span<const std::uint32_t> words, std::string_view entry_point)
    : words_(words.begin(), words.end()) {
  Parser{.module = *this, .wanted = entry_point}.parse();
}

}  // namespace backplane::translator
