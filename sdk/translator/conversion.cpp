#include <llvm/IR/Constants.h>

#include "failure.h"
#include "function.h"

// Conversions between scalar types, and of vectors of them.

namespace backplane::translator {

bool FunctionTranslator::translate_conversion(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpConvertFToU:
    case OpConvertFToS:
    case OpConvertSToF:
    case OpConvertUToF:
    case OpUConvert:
    case OpSConvert:
    case OpFConvert:
    case OpQuantizeToF16:
    case OpBitcast:
      break;
    default:
      return false;
  }
  const Type& wanted = type(instruction);
  llvm::Value* from = operand(instruction, 0);
  const Type& given = type_of(instruction.operand(0), instruction);
  const auto require = [&](bool fits) {
    if (!fits) {
      fail_malformed(instruction, "its operand cannot become its result");
    }
  };
  const TypeKind source = given.scalar().kind;
  const TypeKind target = wanted.scalar().kind;
  const auto is_number = [](TypeKind kind) {
    return kind == TypeKind::integer || kind == TypeKind::floating;
  };
  require(is_number(source) && is_number(target));
  if (instruction.opcode == OpBitcast) {
    require(given.size == wanted.size);
    set(instruction, builder_.CreateBitCast(from, wanted.value));
    return true;
  }
  require(given.components() == wanted.components());
  const bool from_float = source == TypeKind::floating;
  const bool to_float = target == TypeKind::floating;
  switch (instruction.opcode) {
    case OpConvertFToU:
    case OpConvertFToS:
      require(from_float && !to_float);
      // Out of range the value is undefined; frozen, it is at least one value for all its uses.
      set(instruction, builder_.CreateFreeze(instruction.opcode == OpConvertFToU
                                                 ? builder_.CreateFPToUI(from, wanted.value)
                                                 : builder_.CreateFPToSI(from, wanted.value)));
      break;
    case OpConvertSToF:
      require(!from_float && to_float);
      set(instruction, builder_.CreateSIToFP(from, wanted.value));
      break;
    case OpConvertUToF:
      require(!from_float && to_float);
      set(instruction, builder_.CreateUIToFP(from, wanted.value));
      break;
    case OpUConvert:
      require(!from_float && !to_float);
      set(instruction, builder_.CreateZExtOrTrunc(from, wanted.value));
      break;
    case OpSConvert:
      require(!from_float && !to_float);
      set(instruction, builder_.CreateSExtOrTrunc(from, wanted.value));
      break;
    case OpFConvert:
      require(from_float && to_float);
      set(instruction, builder_.CreateFPCast(from, wanted.value));
      break;
    default: {
      require(from_float && wanted.value == from->getType() && wanted.scalar().width == 32);
      llvm::Type* half = from->getType()->getWithNewType(builder_.getHalfTy());
      set(instruction, builder_.CreateFPExt(builder_.CreateFPTrunc(from, half), wanted.value));
    }
  }
  return true;
}

}  // namespace backplane::translator
