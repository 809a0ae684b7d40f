#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <llvm/IR/Constants.h>

#include "failure.h"
#include "function.h"

// Taking values apart and putting them together.

namespace backplane::translator {
namespace {

/// Parts of a value of that LLVM type; 0 for a scalar.
std::uint64_t parts_of(const llvm::Type* type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    return vector->getNumElements();
  }
  if (type->isArrayTy()) {
    return type->getArrayNumElements();
  }
  return type->isStructTy() ? type->getStructNumElements() : 0;
}

}  // namespace

bool FunctionTranslator::translate_composite(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpUndef:
      if (type(instruction).value == nullptr || type(instruction).kind == TypeKind::nothing ||
          type(instruction).kind == TypeKind::pointer) {
        fail_unsupported(instruction, "an undefined value of that type");
      }
      set(instruction, zero(type(instruction).value));
      return true;
    case OpCopyObject:
      if (type(instruction).kind == TypeKind::pointer) {
        set_pointer(instruction, pointer(instruction.operand(0), instruction));
      } else {
        set(instruction, operand(instruction, 0));
      }
      return true;
    case OpCopyLogical:
      set(instruction, operand(instruction, 0));
      return true;
    case OpCompositeConstruct:
      composite_construct(instruction);
      return true;
    case OpCompositeExtract:
      set(instruction, extract(operand(instruction, 0), instruction.operands.subspan(1), instruction));
      return true;
    case OpCompositeInsert:
      set(instruction, insert(operand(instruction, 1), operand(instruction, 0),
                              instruction.operands.subspan(2), instruction));
      return true;
    case OpVectorShuffle:
      vector_shuffle(instruction);
      return true;
    case OpVectorExtractDynamic:
    case OpVectorInsertDynamic: {
      llvm::Value* vector = operand(instruction, 0);
      const bool is_insert = instruction.opcode == OpVectorInsertDynamic;
      llvm::Value* index = operand(instruction, is_insert ? 2 : 1);
      if (!vector->getType()->isVectorTy() || !index->getType()->isIntegerTy()) {
        fail_malformed(instruction, "it is for a vector and an integer");
      }
      set(instruction,
          is_insert ? builder_.CreateInsertElement(
                          vector, operand_of(instruction, 1, vector->getType()->getScalarType()), index)
                    : builder_.CreateExtractElement(vector, index));
      return true;
    }
    default:
      return false;
  }
}

void FunctionTranslator::composite_construct(const Instruction& instruction) {
  const Type& wanted = type(instruction);
  std::vector<llvm::Value*> parts;
  for (std::size_t index = 0; index < instruction.operands.size(); ++index) {
    llvm::Value* part = operand(instruction, index);
    // A vector may be made of vectors, end to end.
    const bool is_split = wanted.kind == TypeKind::vector && part->getType()->isVectorTy();
    const std::uint64_t count = is_split ? parts_of(part->getType()) : 1;
    for (std::uint64_t component = 0; component < count; ++component) {
      parts.push_back(is_split ? builder_.CreateExtractElement(part, component) : part);
    }
  }
  if (wanted.kind != TypeKind::vector && !wanted.is_composite()) {
    fail_malformed(instruction, "its result is no composite");
  }
  if (wanted.value == nullptr || parts.size() != parts_of(wanted.value)) {
    fail_malformed(instruction, "it has not as many parts as its result");
  }
  llvm::Value* result = llvm::PoisonValue::get(wanted.value);
  for (unsigned index = 0; index < parts.size(); ++index) {
    const Type& each = wanted.kind == TypeKind::structure ? *wanted.members[index].type : *wanted.element;
    if (parts[index]->getType() != each.value) {
      fail_malformed(instruction, "part " + std::to_string(index) + " has another type");
    }
    result = wanted.kind == TypeKind::vector ? builder_.CreateInsertElement(result, parts[index], index)
                                             : builder_.CreateInsertValue(result, parts[index], index);
  }
  set(instruction, result);
}

llvm::Value* FunctionTranslator::extract(llvm::Value* whole, std::span<const std::uint32_t> path,
                                         const Instruction& user) {
  for (const std::uint32_t index : path) {
    if (index >= parts_of(whole->getType())) {
      fail_malformed(user, "there is no part " + std::to_string(index));
    }
    whole = whole->getType()->isVectorTy() ? builder_.CreateExtractElement(whole, index)
                                           : builder_.CreateExtractValue(whole, index);
  }
  return whole;
}

llvm::Value* FunctionTranslator::insert(llvm::Value* whole, llvm::Value* part,
                                        std::span<const std::uint32_t> path, const Instruction& user) {
  if (path.empty()) {
    if (whole->getType() != part->getType()) {
      fail_malformed(user, "the part has another type than its place");
    }
    return part;
  }
  llvm::Value* inner = insert(extract(whole, path.first(1), user), part, path.subspan(1), user);
  return whole->getType()->isVectorTy() ? builder_.CreateInsertElement(whole, inner, path.front())
                                        : builder_.CreateInsertValue(whole, inner, path.front());
}

void FunctionTranslator::vector_shuffle(const Instruction& instruction) {
  const Type& wanted = type(instruction);
  llvm::Value* first = operand(instruction, 0);
  llvm::Value* second = operand(instruction, 1);
  const std::span<const std::uint32_t> picks = instruction.operands.subspan(2);
  if (!first->getType()->isVectorTy() || !second->getType()->isVectorTy() ||
      wanted.kind != TypeKind::vector ||
      first->getType()->getScalarType() != second->getType()->getScalarType() ||
      picks.size() != wanted.count) {
    fail_malformed(instruction, "its operands do not fit its result");
  }
  const std::uint64_t split = parts_of(first->getType());
  llvm::Value* result = zero(wanted.value);
  for (unsigned index = 0; index < wanted.count; ++index) {
    const std::uint32_t pick = picks[index];
    constexpr std::uint32_t kUndefined = 0xFFFFFFFF;
    if (pick == kUndefined) {
      continue;
    }
    if (pick >= split + parts_of(second->getType()) ||
        wanted.element->value != first->getType()->getScalarType()) {
      fail_malformed(instruction, "there is no component " + std::to_string(pick));
    }
    llvm::Value* part = pick < split ? builder_.CreateExtractElement(first, pick)
                                     : builder_.CreateExtractElement(second, pick - split);
    result = builder_.CreateInsertElement(result, part, index);
  }
  set(instruction, result);
}

}  // namespace backplane::translator
