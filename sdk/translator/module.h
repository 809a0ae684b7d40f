#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

namespace backplane::translator {

using Id = std::uint32_t;

/// Where in the kernel's source an instruction comes from; number 0 where the module does not say.
struct SourceLine {
  std::string_view file;
  std::uint32_t number = 0;
};

/// One instruction with its result taken apart; the operands are what follows.
struct Instruction {
  spv::Op opcode = spv::Op::OpNop;
  Id type = 0;
  Id result = 0;
  std::span<const std::uint32_t> operands;
  SourceLine line;

  /// The operand at `index`; a malformed module where there is none.
  std::uint32_t operand(std::size_t index) const;
};

struct Decoration {
  spv::Decoration kind;
  std::span<const std::uint32_t> operands;
};

struct Block {
  Id label = 0;
  std::vector<Instruction> instructions;  ///< The last one ends the block.
};

struct Function {
  Instruction definition;
  std::vector<Instruction> parameters;
  std::vector<Block> blocks;
};

/// A SPIR-V module in memory, checked only as far as its own shape goes: sizes, sections, ids in range. One
/// thread at a time while it is parsed; immutable, for any thread, afterwards.
class Module {
 public:
  /// Copies `words`. Throws `Failure`.
  Module(std::span<const std::uint32_t> words, std::string_view entry_point);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Types, constants and variables of module scope, in their order.
  const std::vector<Instruction>& globals() const { return globals_; }
  /// The definition of a type, constant or variable of module scope; null for anything else.
  const Instruction* global(Id id) const;
  const Function& entry_point() const;
  const Function& function(Id id, const Instruction& user) const;

  /// The decoration of an id; null for none.
  const Decoration* decoration(Id id, spv::Decoration kind) const;
  const Decoration* member_decoration(Id structure, std::uint32_t member, spv::Decoration kind) const;
  /// The id decorated as `builtin` among constants; 0 for none.
  Id builtin_constant(spv::BuiltIn builtin) const;

  bool is_glsl_instruction_set(Id id) const { return id != 0 && id == glsl_set_; }
  /// Whether the set is of instructions that may be left out.
  bool is_non_semantic_set(Id id) const;

  /// The operands of the entry point's execution mode; null for none.
  const std::vector<std::uint32_t>* execution_mode(spv::ExecutionMode mode) const;

 private:
  struct Parser;
  friend struct Parser;

  std::vector<std::uint32_t> words_;
  std::vector<Instruction> globals_;
  std::unordered_map<Id, std::size_t> global_index_;
  std::unordered_map<Id, Function> functions_;
  std::unordered_map<Id, std::vector<Decoration>> decorations_;
  std::map<std::pair<Id, std::uint32_t>, std::vector<Decoration>> member_decorations_;
  std::map<std::pair<Id, spv::ExecutionMode>, std::vector<std::uint32_t>> execution_modes_;
  std::vector<Id> non_semantic_sets_;
  Id glsl_set_ = 0;
  Id entry_point_ = 0;
};

/// The text that starts at `words`; a malformed module where it does not end within them.
std::string_view literal_string(std::span<const std::uint32_t> words);

}  // namespace backplane::translator
