#include <cstdint>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include "failure.h"
#include "function.h"

// Arithmetic, comparisons and logic on scalars and vectors.

namespace backplane::translator {

/// Floating-point results may be contracted unless the module forbids it.
llvm::Value* FunctionTranslator::floating(const Instruction& instruction, llvm::Value* result) const {
  auto* made = llvm::dyn_cast<llvm::Instruction>(result);
  if (made != nullptr && llvm::isa<llvm::FPMathOperator>(made) &&
      !has_decoration(instruction, spv::Decoration::NoContraction)) {
    made->setHasAllowContract(true);
  }
  return result;
}

bool FunctionTranslator::translate_arithmetic(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpFNegate:
    case OpFAdd:
    case OpFSub:
    case OpFMul:
    case OpFDiv:
    case OpFRem:
    case OpFMod:
      break;
    default:
      return false;
  }
  const Type& wanted = type(instruction);
  if (wanted.scalar().kind != TypeKind::floating) {
    fail_malformed(instruction, "its result is not floating point");
  }
  llvm::Value* a = operand_of(instruction, 0, wanted.value);
  if (instruction.opcode == OpFNegate) {
    set(instruction, builder_.CreateFNeg(a));
    return true;
  }
  llvm::Value* b = operand_of(instruction, 1, wanted.value);
  switch (instruction.opcode) {
    case OpFAdd:
      set(instruction, floating(instruction, builder_.CreateFAdd(a, b)));
      break;
    case OpFSub:
      set(instruction, floating(instruction, builder_.CreateFSub(a, b)));
      break;
    case OpFMul:
      set(instruction, floating(instruction, builder_.CreateFMul(a, b)));
      break;
    case OpFDiv:
      set(instruction, builder_.CreateFDiv(a, b));
      break;
    default: {
      // The specification defines both through a division, whose error they inherit.
      const auto rounding = instruction.opcode == OpFRem ? llvm::Intrinsic::trunc : llvm::Intrinsic::floor;
      llvm::Value* quotient = builder_.CreateUnaryIntrinsic(rounding, builder_.CreateFDiv(a, b));
      set(instruction, builder_.CreateFSub(a, builder_.CreateFMul(b, quotient)));
    }
  }
  return true;
}

/// A divisor that the processor can take: a division by 0, or of the least integer by -1, has an undefined
/// result in SPIR-V, but a trap would end the process.
llvm::Value* FunctionTranslator::divisor(llvm::Value* dividend, llvm::Value* divisor, bool is_signed) {
  llvm::Type* type = divisor->getType();
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* is_bad = builder_.CreateICmpEQ(divisor, zero(type));
  if (is_signed) {
    const unsigned width = type->getScalarSizeInBits();
    llvm::Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(width));
    llvm::Value* overflows =
        builder_.CreateAnd(builder_.CreateICmpEQ(dividend, least),
                           builder_.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
    is_bad = builder_.CreateOr(is_bad, overflows);
  }
  return builder_.CreateSelect(is_bad, one, divisor);
}

bool FunctionTranslator::translate_integer(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpSNegate:
    case OpIAdd:
    case OpISub:
    case OpIMul:
    case OpUDiv:
    case OpSDiv:
    case OpUMod:
    case OpSRem:
    case OpSMod:
      break;
    case OpIAddCarry:
    case OpISubBorrow:
    case OpUMulExtended:
    case OpSMulExtended:
      wide_integer(instruction);
      return true;
    default:
      return false;
  }
  const Type& wanted = type(instruction);
  if (wanted.scalar().kind != TypeKind::integer) {
    fail_malformed(instruction, "its result is not an integer");
  }
  llvm::Value* a = operand_of(instruction, 0, wanted.value);
  if (instruction.opcode == OpSNegate) {
    set(instruction, builder_.CreateNeg(a));
    return true;
  }
  llvm::Value* b = operand_of(instruction, 1, wanted.value);
  switch (instruction.opcode) {
    case OpIAdd:
      set(instruction, builder_.CreateAdd(a, b));
      break;
    case OpISub:
      set(instruction, builder_.CreateSub(a, b));
      break;
    case OpIMul:
      set(instruction, builder_.CreateMul(a, b));
      break;
    case OpUDiv:
      set(instruction, builder_.CreateUDiv(a, divisor(a, b, false)));
      break;
    case OpSDiv:
      set(instruction, builder_.CreateSDiv(a, divisor(a, b, true)));
      break;
    case OpUMod:
      set(instruction, builder_.CreateURem(a, divisor(a, b, false)));
      break;
    case OpSRem:
      set(instruction, builder_.CreateSRem(a, divisor(a, b, true)));
      break;
    default: {
      // The remainder with the sign of the divisor.
      llvm::Value* safe = divisor(a, b, true);
      llvm::Value* rest = builder_.CreateSRem(a, safe);
      llvm::Value* differs = builder_.CreateICmpSLT(builder_.CreateXor(rest, safe), zero(wanted.value));
      llvm::Value* adjust = builder_.CreateAnd(differs, builder_.CreateICmpNE(rest, zero(wanted.value)));
      set(instruction, builder_.CreateSelect(adjust, builder_.CreateAdd(rest, safe), rest));
    }
  }
  return true;
}

/// Instructions that answer a structure of two integers.
void FunctionTranslator::wide_integer(const Instruction& instruction) {
  using enum spv::Op;
  llvm::Value* a = operand(instruction, 0);
  llvm::Value* b = operand_of(instruction, 1, a->getType());
  if (!a->getType()->isIntOrIntVectorTy()) {
    fail_malformed(instruction, "its operands are not integers");
  }
  llvm::Value* first = nullptr;
  llvm::Value* second = nullptr;
  if (instruction.opcode == OpIAddCarry) {
    first = builder_.CreateAdd(a, b);
    second = builder_.CreateZExt(builder_.CreateICmpULT(first, a), a->getType());
  } else if (instruction.opcode == OpISubBorrow) {
    first = builder_.CreateSub(a, b);
    second = builder_.CreateZExt(builder_.CreateICmpULT(a, b), a->getType());
  } else {
    const bool is_signed = instruction.opcode == OpSMulExtended;
    const unsigned width = a->getType()->getScalarSizeInBits();
    llvm::Type* wide = a->getType()->getExtendedType();
    const auto extend = [&](llvm::Value* each) {
      return is_signed ? builder_.CreateSExt(each, wide) : builder_.CreateZExt(each, wide);
    };
    llvm::Value* product = builder_.CreateMul(extend(a), extend(b));
    first = builder_.CreateTrunc(product, a->getType());
    second = builder_.CreateTrunc(builder_.CreateLShr(product, width), a->getType());
  }
  const Type& wanted = type(instruction);
  if (wanted.kind != TypeKind::structure || wanted.members.size() != 2 ||
      wanted.members[0].type->value != a->getType() || wanted.members[1].type->value != a->getType()) {
    fail_malformed(instruction, "its result is not a structure of two of its operands");
  }
  llvm::Value* result = builder_.CreateInsertValue(llvm::PoisonValue::get(wanted.value), first, 0);
  set(instruction, builder_.CreateInsertValue(result, second, 1));
}

namespace {

llvm::CmpInst::Predicate predicate(spv::Op opcode) {
  using enum spv::Op;
  switch (opcode) {
    case OpIEqual:
      return llvm::CmpInst::ICMP_EQ;
    case OpINotEqual:
      return llvm::CmpInst::ICMP_NE;
    case OpUGreaterThan:
      return llvm::CmpInst::ICMP_UGT;
    case OpUGreaterThanEqual:
      return llvm::CmpInst::ICMP_UGE;
    case OpULessThan:
      return llvm::CmpInst::ICMP_ULT;
    case OpULessThanEqual:
      return llvm::CmpInst::ICMP_ULE;
    case OpSGreaterThan:
      return llvm::CmpInst::ICMP_SGT;
    case OpSGreaterThanEqual:
      return llvm::CmpInst::ICMP_SGE;
    case OpSLessThan:
      return llvm::CmpInst::ICMP_SLT;
    case OpSLessThanEqual:
      return llvm::CmpInst::ICMP_SLE;
    case OpFOrdEqual:
      return llvm::CmpInst::FCMP_OEQ;
    case OpFUnordEqual:
      return llvm::CmpInst::FCMP_UEQ;
    case OpFOrdNotEqual:
    case OpLessOrGreater:
      return llvm::CmpInst::FCMP_ONE;
    case OpFUnordNotEqual:
      return llvm::CmpInst::FCMP_UNE;
    case OpFOrdLessThan:
      return llvm::CmpInst::FCMP_OLT;
    case OpFUnordLessThan:
      return llvm::CmpInst::FCMP_ULT;
    case OpFOrdGreaterThan:
      return llvm::CmpInst::FCMP_OGT;
    case OpFUnordGreaterThan:
      return llvm::CmpInst::FCMP_UGT;
    case OpFOrdLessThanEqual:
      return llvm::CmpInst::FCMP_OLE;
    case OpFUnordLessThanEqual:
      return llvm::CmpInst::FCMP_ULE;
    case OpFOrdGreaterThanEqual:
      return llvm::CmpInst::FCMP_OGE;
    case OpFUnordGreaterThanEqual:
      return llvm::CmpInst::FCMP_UGE;
    case OpOrdered:
      return llvm::CmpInst::FCMP_ORD;
    case OpUnordered:
      return llvm::CmpInst::FCMP_UNO;
    default:
      return llvm::CmpInst::BAD_ICMP_PREDICATE;
  }
}

}  // namespace

bool FunctionTranslator::translate_comparison(const Instruction& instruction) {
  using enum spv::Op;
  if (instruction.opcode == OpIsNan || instruction.opcode == OpIsInf) {
    llvm::Value* x = operand(instruction, 0);
    if (!x->getType()->isFPOrFPVectorTy()) {
      fail_malformed(instruction, "its operand is not floating point");
    }
    llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
    set(instruction,
        instruction.opcode == OpIsNan
            ? builder_.CreateFCmpUNO(x, x)
            : builder_.CreateFCmpOEQ(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), infinity));
    return true;
  }
  const llvm::CmpInst::Predicate compare = predicate(instruction.opcode);
  if (compare == llvm::CmpInst::BAD_ICMP_PREDICATE) {
    return false;
  }
  llvm::Value* a = operand(instruction, 0);
  llvm::Value* b = operand_of(instruction, 1, a->getType());
  const bool is_float = llvm::CmpInst::isFPPredicate(compare);
  if (is_float ? !a->getType()->isFPOrFPVectorTy() : !a->getType()->isIntOrIntVectorTy()) {
    fail_malformed(instruction, "its operands have the wrong type");
  }
  set(instruction, builder_.CreateCmp(compare, a, b));
  return true;
}

bool FunctionTranslator::translate_logic(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpLogicalEqual:
    case OpLogicalNotEqual:
    case OpLogicalOr:
    case OpLogicalAnd:
    case OpLogicalNot:
    case OpAny:
    case OpAll:
      break;
    case OpSelect: {
      llvm::Value* condition = operand(instruction, 0);
      llvm::Value* a = operand(instruction, 1);
      llvm::Value* b = operand_of(instruction, 2, a->getType());
      if (llvm::SelectInst::areInvalidOperands(condition, a, b) != nullptr || a->getType()->isPointerTy()) {
        fail_unsupported(instruction, "a selection between these operands");
      }
      set(instruction, builder_.CreateSelect(condition, a, b));
      return true;
    }
    default:
      return false;
  }
  llvm::Value* a = operand(instruction, 0);
  if (!a->getType()->isIntOrIntVectorTy(1)) {
    fail_malformed(instruction, "its operand is not boolean");
  }
  if (instruction.opcode == OpLogicalNot) {
    set(instruction, builder_.CreateNot(a));
  } else if (instruction.opcode == OpAny || instruction.opcode == OpAll) {
    if (!a->getType()->isVectorTy()) {
      fail_malformed(instruction, "its operand is not a vector");
    }
    set(instruction, instruction.opcode == OpAny ? builder_.CreateOrReduce(a) : builder_.CreateAndReduce(a));
  } else {
    llvm::Value* b = operand_of(instruction, 1, a->getType());
    set(instruction, instruction.opcode == OpLogicalEqual      ? builder_.CreateICmpEQ(a, b)
                     : instruction.opcode == OpLogicalNotEqual ? builder_.CreateXor(a, b)
                     : instruction.opcode == OpLogicalOr       ? builder_.CreateOr(a, b)
                                                               : builder_.CreateAnd(a, b));
  }
  return true;
}

}  // namespace backplane::translator
