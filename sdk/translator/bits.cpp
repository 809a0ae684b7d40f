#include <llvm/IR/Constants.h>

#include "failure.h"
#include "function.h"

// Bit operations.

namespace backplane::translator {

bool FunctionTranslator::translate_bits(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpShiftRightLogical:
    case OpShiftRightArithmetic:
    case OpShiftLeftLogical:
    case OpBitwiseOr:
    case OpBitwiseXor:
    case OpBitwiseAnd:
    case OpNot:
    case OpBitReverse:
    case OpBitCount:
      break;
    case OpBitFieldInsert:
    case OpBitFieldSExtract:
    case OpBitFieldUExtract:
      bit_field(instruction);
      return true;
    default:
      return false;
  }
  const Type& wanted = type(instruction);
  llvm::Value* a = operand(instruction, 0);
  if (wanted.scalar().kind != TypeKind::integer || !a->getType()->isIntOrIntVectorTy()) {
    fail_malformed(instruction, "it is for integers");
  }
  switch (instruction.opcode) {
    case OpNot:
      set(instruction, builder_.CreateNot(a));
      return true;
    case OpBitReverse:
      if (wanted.scalar().width % 8 != 0) {
        fail_unsupported(instruction, "this width");
      }
      set(instruction, builder_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a));
      return true;
    case OpBitCount: {
      if (a->getType()->isVectorTy() != wanted.value->isVectorTy()) {
        fail_malformed(instruction, "its operand does not fit its result");
      }
      llvm::Value* count = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
      set(instruction, builder_.CreateZExtOrTrunc(count, wanted.value));
      return true;
    }
    default:
      break;
  }
  operand_of(instruction, 0, wanted.value);
  llvm::Value* b = operand(instruction, 1);
  if (!b->getType()->isIntOrIntVectorTy() || b->getType()->isVectorTy() != wanted.value->isVectorTy() ||
      wanted.components() != (b->getType()->isVectorTy()
                                  ? llvm::cast<llvm::FixedVectorType>(b->getType())->getNumElements()
                                  : 1)) {
    fail_malformed(instruction, "its operands do not fit");
  }
  if (instruction.opcode == OpBitwiseOr || instruction.opcode == OpBitwiseXor ||
      instruction.opcode == OpBitwiseAnd) {
    operand_of(instruction, 1, wanted.value);
    set(instruction, instruction.opcode == OpBitwiseOr    ? builder_.CreateOr(a, b)
                     : instruction.opcode == OpBitwiseXor ? builder_.CreateXor(a, b)
                                                          : builder_.CreateAnd(a, b));
    return true;
  }
  // A shift by the width or more is undefined in SPIR-V; masked, it is merely some value.
  b = builder_.CreateAnd(builder_.CreateZExtOrTrunc(b, wanted.value),
                         llvm::ConstantInt::get(wanted.value, wanted.scalar().width - 1));
  set(instruction, instruction.opcode == OpShiftLeftLogical    ? builder_.CreateShl(a, b)
                   : instruction.opcode == OpShiftRightLogical ? builder_.CreateLShr(a, b)
                                                               : builder_.CreateAShr(a, b));
  return true;
}

void FunctionTranslator::bit_field(const Instruction& instruction) {
  using enum spv::Op;
  const Type& wanted = type(instruction);
  llvm::Type* of = wanted.value;
  if (wanted.scalar().kind != TypeKind::integer) {
    fail_malformed(instruction, "it is for integers");
  }
  const bool is_insert = instruction.opcode == OpBitFieldInsert;
  llvm::Value* base = operand_of(instruction, 0, of);
  const auto amount = [&](std::size_t index) {
    llvm::Value* found = operand(instruction, index);
    if (!found->getType()->isIntegerTy()) {
      fail_malformed(instruction, "an offset and a count are scalar integers");
    }
    return splat(builder_.CreateZExtOrTrunc(found, of->getScalarType()), of);
  };
  llvm::Value* offset = amount(is_insert ? 2 : 1);
  llvm::Value* count = amount(is_insert ? 3 : 2);
  llvm::Value* width = llvm::ConstantInt::get(of, wanted.scalar().width);
  llvm::Value* limit = llvm::ConstantInt::get(of, wanted.scalar().width - 1);
  // Shifts by the whole width are undefined, hence the masks and the case of no bits at all.
  const auto bounded = [&](llvm::Value* shift) { return builder_.CreateAnd(shift, limit); };
  llvm::Value* is_empty = builder_.CreateICmpEQ(count, zero(of));
  llvm::Value* unused = bounded(builder_.CreateSub(width, count));
  llvm::Value* ones = builder_.CreateLShr(llvm::Constant::getAllOnesValue(of), unused);
  if (is_insert) {
    llvm::Value* mask = builder_.CreateShl(ones, bounded(offset));
    llvm::Value* moved = builder_.CreateShl(operand_of(instruction, 1, of), bounded(offset));
    llvm::Value* result = builder_.CreateOr(builder_.CreateAnd(base, builder_.CreateNot(mask)),
                                            builder_.CreateAnd(moved, mask));
    set(instruction, builder_.CreateSelect(is_empty, base, result));
    return;
  }
  llvm::Value* result = builder_.CreateAnd(builder_.CreateLShr(base, bounded(offset)), ones);
  if (instruction.opcode == OpBitFieldSExtract) {
    result = builder_.CreateAShr(builder_.CreateShl(result, unused), unused);
  }
  set(instruction, builder_.CreateSelect(is_empty, zero(of), result));
}

}  // namespace backplane::translator
