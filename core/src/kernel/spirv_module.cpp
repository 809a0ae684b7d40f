#define SPV_ENABLE_UTILITY_CODE  // for spv::HasResultAndType

#include "kernel/spirv_module.h"

#include <algorithm>

namespace backplane {
namespace {

constexpr std::size_t kHeaderWords = 5;

/// Which words of an instruction hold its result type and its result, for the instructions whose results are
/// looked up. A valid module needs no more than the grammar's two shapes.
void read_ids(SpirvInstruction& instruction) {
  bool has_result = false;
  bool has_type = false;
  spv::HasResultAndType(instruction.opcode, &has_result, &has_type);
  std::size_t next = 1;
  if (has_type) instruction.type_id = instruction.words[next++];
  if (has_result) instruction.result_id = instruction.words[next];
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return alignment == 0 ? value : (value + alignment - 1) / alignment * alignment;
}

}  // namespace

SpirvModule::SpirvModule(std::span<const std::uint32_t> words) {
  for (std::size_t at = kHeaderWords; at < words.size();) {
    const std::size_t length = std::max<std::size_t>(words[at] >> 16U, 1);
    SpirvInstruction instruction{static_cast<spv::Op>(words[at] & 0xffffU), 0, 0, words.subspan(at, length)};
    read_ids(instruction);
    const std::size_t index = instructions_.size();
    if (instruction.result_id != 0) definitions_.emplace(instruction.result_id, index);
    if (instruction.opcode == spv::Op::OpDecorate || instruction.opcode == spv::Op::OpMemberDecorate) {
      decorations_[instruction.words[1]].push_back(index);
    }
    instructions_.push_back(instruction);
    at += length;
  }
}

std::optional<std::uint32_t> SpirvModule::decoration(std::uint32_t id, spv::Decoration decoration) const {
  const auto found = decorations_.find(id);
  if (found == decorations_.end()) return std::nullopt;
  for (const std::size_t index : found->second) {
    const std::span<const std::uint32_t> words = instructions_[index].words;
    if (instructions_[index].opcode != spv::Op::OpDecorate) continue;
    if (words[2] == static_cast<std::uint32_t>(decoration)) return words.size() > 3 ? words[3] : 0;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SpirvModule::member_decoration(std::uint32_t structure, std::uint32_t member,
                                                            spv::Decoration decoration) const {
  const auto found = decorations_.find(structure);
  if (found == decorations_.end()) return std::nullopt;
  for (const std::size_t index : found->second) {
    const std::span<const std::uint32_t> words = instructions_[index].words;
    if (instructions_[index].opcode != spv::Op::OpMemberDecorate || words[2] != member) continue;
    if (words[3] == static_cast<std::uint32_t>(decoration)) return words.size() > 4 ? words[4] : 0;
  }
  return std::nullopt;
}

std::uint64_t SpirvModule::constant(std::uint32_t id) const {
  const SpirvInstruction& instruction = definition(id);
  if (instruction.opcode != spv::Op::OpConstant) return 0;
  const std::uint64_t low = instruction.words[3];
  return instruction.words.size() > 4 ? low | std::uint64_t{instruction.words[4]} << 32U : low;
}

std::uint64_t SpirvModule::size(std::uint32_t type, std::uint32_t matrix_stride, bool explicit_layout) const {
  const SpirvInstruction& instruction = definition(type);
  const auto element_size = [&](std::uint32_t element) {
    return size(element, matrix_stride, explicit_layout);
  };
  switch (instruction.opcode) {
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat:
      return instruction.words[2] / 8;
    case spv::Op::OpTypeBool:
      return 4;
    case spv::Op::OpTypeVector:
      return instruction.words[3] * element_size(instruction.words[2]);
    case spv::Op::OpTypeMatrix: {
      const std::uint64_t column = element_size(instruction.words[2]);
      return instruction.words[3] * std::max<std::uint64_t>(column, explicit_layout ? matrix_stride : 0);
    }
    case spv::Op::OpTypeArray:
    case spv::Op::OpTypeRuntimeArray: {
      const std::uint64_t packed = element_size(instruction.words[2]);
      const std::uint32_t stride =
          explicit_layout ? decoration(type, spv::Decoration::ArrayStride).value_or(0) : 0;
      // An array whose length only the buffer knows has one element at least, padding included: fewer bytes
      // are no element.
      const std::uint64_t length =
          instruction.opcode == spv::Op::OpTypeArray ? constant(instruction.words[3]) : 1;
      return length * std::max<std::uint64_t>(packed, stride);
    }
    case spv::Op::OpTypeStruct:
      return structure_size(instruction, explicit_layout);
    default:
      return 0;
  }
}

std::uint64_t SpirvModule::structure_size(const SpirvInstruction& structure, bool explicit_layout) const {
  std::uint64_t end = 0;
  for (std::uint32_t member = 0; member + 2 < structure.words.size(); ++member) {
    const std::uint32_t type = structure.words[member + 2];
    const auto decorated = [&](spv::Decoration decoration) {
      return member_decoration(structure.result_id, member, decoration).value_or(0);
    };
    const std::uint64_t offset =
        explicit_layout ? decorated(spv::Decoration::Offset) : round_up(end, natural_alignment(type));
    end = std::max(end, offset + size(type, decorated(spv::Decoration::MatrixStride), explicit_layout));
  }
  return explicit_layout ? end : round_up(end, natural_alignment(structure.result_id));
}

std::uint64_t SpirvModule::natural_alignment(std::uint32_t type) const {
  const SpirvInstruction& instruction = definition(type);
  switch (instruction.opcode) {
    case spv::Op::OpTypeVector:
    case spv::Op::OpTypeMatrix:
    case spv::Op::OpTypeArray:
    case spv::Op::OpTypeRuntimeArray:
      return natural_alignment(instruction.words[2]);
    case spv::Op::OpTypeStruct: {
      std::uint64_t widest = 1;
      for (const std::uint32_t member : instruction.words.subspan(2)) {
        widest = std::max(widest, natural_alignment(member));
      }
      return widest;
    }
    default:
      return std::max<std::uint64_t>(natural_size(type), 1);
  }
}

SpirvString read_string(std::span<const std::uint32_t> words) {
  SpirvString string{{}, 0};
  for (const std::uint32_t word : words) {
    ++string.word_count;
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const char character = static_cast<char>(word >> shift & 0xffU);
      if (character == '\0') return string;
      string.text.push_back(character);
    }
  }
  return string;
}

}  // namespace backplane
