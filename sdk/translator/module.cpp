#include "module.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "failure.h"

namespace backplane::translator {

std::uint32_t Instruction::operand(std::size_t index) const {
  if (index >= operands.size()) {
    fail_malformed(*this, "operand " + std::to_string(index) + " is missing");
  }
  return operands[index];
}

std::string_view literal_string(std::span<const std::uint32_t> words) {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  const std::size_t end = bytes.find('\0');
  if (end == std::string_view::npos) {
    fail_malformed("a literal string does not end within its instruction");
  }
  return bytes.substr(0, end);
}

const Instruction* Module::global(Id id) const {
  const auto found = global_index_.find(id);
  return found == global_index_.end() ? nullptr : &globals_[found->second];
}

const Function& Module::entry_point() const {
  return functions_.at(entry_point_);
}

const Function& Module::function(Id id, const Instruction& user) const {
  const auto found = functions_.find(id);
  if (found == functions_.end()) {
    fail_malformed(user, "%" + std::to_string(id) + " is not a function");
  }
  return found->second;
}

const Decoration* Module::decoration(Id id, spv::Decoration kind) const {
  const auto found = decorations_.find(id);
  if (found == decorations_.end()) {
    return nullptr;
  }
  const auto match =
      std::ranges::find_if(found->second, [kind](const Decoration& each) { return each.kind == kind; });
  return match == found->second.end() ? nullptr : &*match;
}

const Decoration* Module::member_decoration(Id structure, std::uint32_t member, spv::Decoration kind) const {
  const auto found = member_decorations_.find({structure, member});
  if (found == member_decorations_.end()) {
    return nullptr;
  }
  const auto match =
      std::ranges::find_if(found->second, [kind](const Decoration& each) { return each.kind == kind; });
  return match == found->second.end() ? nullptr : &*match;
}

Id Module::builtin_constant(spv::BuiltIn builtin) const {
  for (const Instruction& each : globals_) {
    if (each.opcode != spv::Op::OpConstantComposite) {
      continue;
    }
    const Decoration* found = decoration(each.result, spv::Decoration::BuiltIn);
    if (found != nullptr && !found->operands.empty() &&
        found->operands[0] == static_cast<std::uint32_t>(builtin)) {
      return each.result;
    }
  }
  return 0;
}

bool Module::is_non_semantic_set(Id id) const {
  return std::ranges::count(non_semantic_sets_, id) != 0;
}

const std::vector<std::uint32_t>* Module::execution_mode(spv::ExecutionMode mode) const {
  const auto found = execution_modes_.find({entry_point_, mode});
  return found == execution_modes_.end() ? nullptr : &found->second;
}

}  // namespace backplane::translator
