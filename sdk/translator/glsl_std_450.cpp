#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "failure.h"
#include "function.h"
#include "names.h"

// The extended instruction set for shaders: dispatch, and what is neither mathematics nor packing.

namespace backplane::translator {

bool FunctionTranslator::translate_extended(const Instruction& instruction) {
  if (instruction.opcode != spv::Op::OpExtInst) {
    return false;
  }
  const Id set_id = instruction.operand(0);
  const std::uint32_t code = instruction.operand(1);
  if (translation_.module().is_non_semantic_set(set_id)) {
    return true;
  }
  if (!translation_.module().is_glsl_instruction_set(set_id)) {
    fail_malformed(instruction, "%" + std::to_string(set_id) + " is not an instruction set");
  }
  using Group = llvm::Value* (FunctionTranslator::*)(const Instruction&, std::uint32_t);
  static constexpr std::array<Group, 7> kGroups = {
      &FunctionTranslator::extended_common,   &FunctionTranslator::extended_minmax,
      &FunctionTranslator::extended_math,     &FunctionTranslator::extended_geometry,
      &FunctionTranslator::extended_exponent, &FunctionTranslator::extended_packing,
      &FunctionTranslator::extended_bits};
  for (const Group group : kGroups) {
    if (llvm::Value* result = (this->*group)(instruction, code)) {
      set(instruction, result);
      return true;
    }
  }
  fail_unsupported(instruction, "GLSL.std.450 " + extended_name(code) + " is not supported");
}

llvm::Value* FunctionTranslator::intrinsic(llvm::Intrinsic::ID id, std::span<llvm::Value* const> arguments) {
  const llvm::ArrayRef<llvm::Value*> list(arguments.data(), arguments.size());
  return builder_.CreateIntrinsic(id, {arguments.front()->getType()}, list);
}

/// Applies `apply` to every component of vectors of one size, or to scalars.
llvm::Value* FunctionTranslator::each_component(
    std::span<llvm::Value* const> arguments,
    const std::function<llvm::Value*(std::span<llvm::Value* const>)>& apply) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(arguments.front()->getType());
  if (vector == nullptr) {
    return apply(arguments);
  }
  llvm::Value* result = nullptr;
  for (unsigned index = 0; index < vector->getNumElements(); ++index) {
    std::vector<llvm::Value*> parts;
    for (llvm::Value* each : arguments) {
      parts.push_back(builder_.CreateExtractElement(each, index));
    }
    llvm::Value* part = apply(parts);
    if (result == nullptr) {
      result = llvm::PoisonValue::get(llvm::FixedVectorType::get(part->getType(), vector->getNumElements()));
    }
    result = builder_.CreateInsertElement(result, part, index);
  }
  return result;
}

llvm::Value* FunctionTranslator::extended_common(const Instruction& instruction, std::uint32_t code) {
  static const std::unordered_map<std::uint32_t, llvm::Intrinsic::ID> intrinsics = {
      // Halves may be rounded either way by Round; the processor rounds them to even.
      {GLSLstd450Round, llvm::Intrinsic::roundeven}, {GLSLstd450RoundEven, llvm::Intrinsic::roundeven},
      {GLSLstd450Trunc, llvm::Intrinsic::trunc},     {GLSLstd450FAbs, llvm::Intrinsic::fabs},
      {GLSLstd450Floor, llvm::Intrinsic::floor},     {GLSLstd450Ceil, llvm::Intrinsic::ceil},
      {GLSLstd450Sqrt, llvm::Intrinsic::sqrt}};
  const auto x = [&] { return operand_of(instruction, 2, type(instruction).value); };
  const auto is = [&](TypeKind kind) {
    if (type(instruction).scalar().kind != kind) {
      fail_malformed(instruction, "its result has the wrong type");
    }
  };
  if (const auto found = intrinsics.find(code); found != intrinsics.end()) {
    is(TypeKind::floating);
    return builder_.CreateUnaryIntrinsic(found->second, x());
  }
  llvm::Type* of = type(instruction).value;
  switch (code) {
    case GLSLstd450SAbs:
      is(TypeKind::integer);
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x(), builder_.getFalse());
    case GLSLstd450SSign: {
      is(TypeKind::integer);
      llvm::Value* is_positive = builder_.CreateZExt(builder_.CreateICmpSGT(x(), zero(of)), of);
      return builder_.CreateOr(builder_.CreateAShr(x(), of->getScalarSizeInBits() - 1), is_positive);
    }
    case GLSLstd450FSign: {
      is(TypeKind::floating);
      llvm::Value* sign = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, number(of, 1.0), x());
      return builder_.CreateSelect(builder_.CreateFCmpUNE(x(), zero(of)), sign, x());
    }
    case GLSLstd450Fract:
      is(TypeKind::floating);
      return builder_.CreateFSub(x(), builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x()));
    case GLSLstd450InverseSqrt:
      is(TypeKind::floating);
      return builder_.CreateFDiv(number(of, 1.0), builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x()));
    case GLSLstd450Radians:
      is(TypeKind::floating);
      return builder_.CreateFMul(x(), number(of, 0.017453292519943295));
    case GLSLstd450Degrees:
      is(TypeKind::floating);
      return builder_.CreateFMul(x(), number(of, 57.29577951308232));
    default:
      return nullptr;
  }
}

llvm::Value* FunctionTranslator::select_less(llvm::Value* a, llvm::Value* b, llvm::Value* if_less,
                                             llvm::Value* otherwise) {
  return builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), if_less, otherwise);
}

llvm::Value* FunctionTranslator::extended_minmax(const Instruction& instruction, std::uint32_t code) {
  const Type& wanted = type(instruction);
  llvm::Type* of = wanted.value;
  const auto argument = [&](std::size_t index, TypeKind kind) {
    if (wanted.scalar().kind != kind) {
      fail_malformed(instruction, "its result has the wrong type");
    }
    return operand_of(instruction, 2 + index, of);
  };
  const auto integer = [&](std::size_t index) { return argument(index, TypeKind::integer); };
  const auto real = [&](std::size_t index) { return argument(index, TypeKind::floating); };
  const auto binary = [&](llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* b) {
    return builder_.CreateBinaryIntrinsic(id, a, b);
  };
  switch (code) {
    case GLSLstd450FMin:
      return select_less(real(1), real(0), real(1), real(0));
    case GLSLstd450FMax:
      return select_less(real(0), real(1), real(1), real(0));
    case GLSLstd450UMin:
      return binary(llvm::Intrinsic::umin, integer(0), integer(1));
    case GLSLstd450UMax:
      return binary(llvm::Intrinsic::umax, integer(0), integer(1));
    case GLSLstd450SMin:
      return binary(llvm::Intrinsic::smin, integer(0), integer(1));
    case GLSLstd450SMax:
      return binary(llvm::Intrinsic::smax, integer(0), integer(1));
    case GLSLstd450NMin:
      return binary(llvm::Intrinsic::minnum, real(0), real(1));
    case GLSLstd450NMax:
      return binary(llvm::Intrinsic::maxnum, real(0), real(1));
    case GLSLstd450NClamp:
      return binary(llvm::Intrinsic::minnum, binary(llvm::Intrinsic::maxnum, real(0), real(1)), real(2));
    case GLSLstd450UClamp:
      return binary(llvm::Intrinsic::umin, binary(llvm::Intrinsic::umax, integer(0), integer(1)), integer(2));
    case GLSLstd450SClamp:
      return binary(llvm::Intrinsic::smin, binary(llvm::Intrinsic::smax, integer(0), integer(1)), integer(2));
    case GLSLstd450FClamp: {
      llvm::Value* raised = select_less(real(0), real(1), real(1), real(0));
      return select_less(real(2), raised, real(2), raised);
    }
    case GLSLstd450FMix: {
      llvm::Value* keep = builder_.CreateFMul(real(0), builder_.CreateFSub(number(of, 1.0), real(2)));
      return builder_.CreateFAdd(keep, builder_.CreateFMul(real(1), real(2)));
    }
    case GLSLstd450Step:
      return select_less(real(1), real(0), zero(of), number(of, 1.0));
    case GLSLstd450SmoothStep: {
      llvm::Value* t =
          builder_.CreateFDiv(builder_.CreateFSub(real(2), real(0)), builder_.CreateFSub(real(1), real(0)));
      t = select_less(t, zero(of), zero(of), t);
      t = select_less(number(of, 1.0), t, number(of, 1.0), t);
      llvm::Value* slope = builder_.CreateFSub(number(of, 3.0), builder_.CreateFMul(number(of, 2.0), t));
      return builder_.CreateFMul(builder_.CreateFMul(t, t), slope);
    }
    case GLSLstd450Fma: {
      const std::array<llvm::Value*, 3> arguments = {real(0), real(1), real(2)};
      return intrinsic(llvm::Intrinsic::fma, arguments);
    }
    default:
      return nullptr;
  }
}

}  // namespace backplane::translator
