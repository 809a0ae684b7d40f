#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "failure.h"
#include "function.h"

// Packing, bit search, exponents, inverses.

namespace backplane::translator {
namespace {

struct Packing {
  bool is_unpack;
  bool is_signed;
  unsigned count;
  unsigned bits;
};

// NOLINTBEGIN(modernize-use-designated-initializers): a table, read by its columns.
std::optional<Packing> normalized_packing(std::uint32_t code) {
  switch (code) {
    case GLSLstd450PackSnorm4x8:
      return Packing{false, true, 4, 8};
    case GLSLstd450PackUnorm4x8:
      return Packing{false, false, 4, 8};
    case GLSLstd450PackSnorm2x16:
      return Packing{false, true, 2, 16};
    case GLSLstd450PackUnorm2x16:
      return Packing{false, false, 2, 16};
    case GLSLstd450UnpackSnorm4x8:
      return Packing{true, true, 4, 8};
    case GLSLstd450UnpackUnorm4x8:
      return Packing{true, false, 4, 8};
    case GLSLstd450UnpackSnorm2x16:
      return Packing{true, true, 2, 16};
    case GLSLstd450UnpackUnorm2x16:
      return Packing{true, false, 2, 16};
    default:
      return std::nullopt;
  }
}
// NOLINTEND(modernize-use-designated-initializers)

}  // namespace

llvm::Value* FunctionTranslator::extended_packing(const Instruction& instruction, std::uint32_t code) {
  const auto vector_of = [](llvm::Type* scalar, unsigned count) {
    return llvm::FixedVectorType::get(scalar, count);
  };
  llvm::Type* word = builder_.getInt32Ty();
  switch (code) {
    case GLSLstd450PackHalf2x16: {
      llvm::Value* pair = operand_of(instruction, 2, vector_of(builder_.getFloatTy(), 2));
      return builder_.CreateBitCast(builder_.CreateFPTrunc(pair, vector_of(builder_.getHalfTy(), 2)), word);
    }
    case GLSLstd450UnpackHalf2x16: {
      llvm::Value* halves =
          builder_.CreateBitCast(operand_of(instruction, 2, word), vector_of(builder_.getHalfTy(), 2));
      return builder_.CreateFPExt(halves, vector_of(builder_.getFloatTy(), 2));
    }
    case GLSLstd450PackDouble2x32:
      return builder_.CreateBitCast(operand_of(instruction, 2, vector_of(word, 2)), builder_.getDoubleTy());
    case GLSLstd450UnpackDouble2x32:
      return builder_.CreateBitCast(operand_of(instruction, 2, builder_.getDoubleTy()), vector_of(word, 2));
    default:
      break;
  }
  const std::optional<Packing> packing = normalized_packing(code);
  if (!packing) {
    return nullptr;
  }
  llvm::Type* reals = vector_of(builder_.getFloatTy(), packing->count);
  llvm::Type* narrow = vector_of(builder_.getIntNTy(packing->bits), packing->count);
  const auto scale = static_cast<double>((1U << (packing->bits - (packing->is_signed ? 1U : 0U))) - 1);
  llvm::Value* low = number(reals, packing->is_signed ? -1.0 : 0.0);
  llvm::Value* high = number(reals, 1.0);
  const auto clamp = [&](llvm::Value* value) {
    value = select_less(value, low, low, value);
    return select_less(high, value, high, value);
  };
  if (packing->is_unpack) {
    llvm::Value* parts = builder_.CreateBitCast(operand_of(instruction, 2, word), narrow);
    llvm::Value* real =
        packing->is_signed ? builder_.CreateSIToFP(parts, reals) : builder_.CreateUIToFP(parts, reals);
    return clamp(builder_.CreateFDiv(real, number(reals, scale)));
  }
  llvm::Value* scaled = builder_.CreateFMul(clamp(operand_of(instruction, 2, reals)), number(reals, scale));
  llvm::Value* whole = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, scaled);
  // Through 32 bits, where every value fits: a NaN then gives some bits instead of anything at all.
  llvm::Value* wide = builder_.CreateFreeze(builder_.CreateFPToSI(whole, vector_of(word, packing->count)));
  return builder_.CreateBitCast(builder_.CreateTrunc(wide, narrow), word);
}

llvm::Value* FunctionTranslator::extended_bits(const Instruction& instruction, std::uint32_t code) {
  if (code != GLSLstd450FindILsb && code != GLSLstd450FindSMsb && code != GLSLstd450FindUMsb) {
    return nullptr;
  }
  llvm::Value* x = operand(instruction, 2);
  llvm::Type* of = x->getType();
  if (!of->isIntOrIntVectorTy() || !type(instruction).value->isIntOrIntVectorTy() ||
      of->isVectorTy() != type(instruction).value->isVectorTy()) {
    fail_malformed(instruction, "its operand is not an integer, or does not fit its result");
  }
  llvm::Value* none = llvm::Constant::getAllOnesValue(of);
  if (code == GLSLstd450FindSMsb) {
    // Of a negative value the highest 0 is looked for.
    x = builder_.CreateXor(x, builder_.CreateAShr(x, of->getScalarSizeInBits() - 1));
  }
  llvm::Value* is_empty = builder_.CreateICmpEQ(x, zero(of));
  llvm::Value* position = nullptr;
  if (code == GLSLstd450FindILsb) {
    position = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, builder_.getFalse());
  } else {
    llvm::Value* above = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, builder_.getFalse());
    position = builder_.CreateSub(llvm::ConstantInt::get(of, of->getScalarSizeInBits() - 1), above);
  }
  return builder_.CreateSExtOrTrunc(builder_.CreateSelect(is_empty, none, position), type(instruction).value);
}

/// The significand of frexp, in [0.5, 1), with `exponent` set.
llvm::Value* FunctionTranslator::frexp_parts(llvm::Value* x, llvm::Value** exponent,
                                             llvm::Type* exponent_type) {
  llvm::Value* pair = builder_.CreateIntrinsic(llvm::Intrinsic::frexp, {x->getType(), exponent_type}, {x});
  *exponent = builder_.CreateExtractValue(pair, 1);
  return builder_.CreateExtractValue(pair, 0);
}

llvm::Value* FunctionTranslator::extended_exponent(const Instruction& instruction, std::uint32_t code) {
  switch (code) {
    case GLSLstd450Ldexp: {
      llvm::Value* x = operand_of(instruction, 2, type(instruction).value);
      llvm::Value* exponent = operand(instruction, 3);
      if (!x->getType()->isFPOrFPVectorTy() || !exponent->getType()->isIntOrIntVectorTy() ||
          x->getType()->isVectorTy() != exponent->getType()->isVectorTy()) {
        fail_malformed(instruction, "its operands do not fit");
      }
      const std::array<llvm::Value*, 2> arguments = {x, exponent};
      return each_component(arguments, [&](std::span<llvm::Value* const> parts) -> llvm::Value* {
        llvm::Value* power = builder_.CreateSExtOrTrunc(parts[1], builder_.getInt32Ty());
        return builder_.CreateIntrinsic(llvm::Intrinsic::ldexp, {parts[0]->getType(), power->getType()},
                                        {parts[0], power});
      });
    }
    case GLSLstd450Modf:
    case GLSLstd450ModfStruct:
    case GLSLstd450Frexp:
    case GLSLstd450FrexpStruct:
      break;
    case GLSLstd450Determinant: {
      llvm::Value* matrix = operand(instruction, 2);
      if (type_of(instruction.operand(2), instruction).kind != TypeKind::matrix) {
        fail_malformed(instruction, "its operand is not a matrix");
      }
      return determinant(matrix);
    }
    case GLSLstd450MatrixInverse:
      if (type(instruction).kind != TypeKind::matrix ||
          type(instruction).count != type(instruction).element->count) {
        fail_malformed(instruction, "its result is not a square matrix");
      }
      return inverse(operand_of(instruction, 2, type(instruction).value));
    default:
      return nullptr;
  }
  llvm::Value* x = operand(instruction, 2);
  if (!x->getType()->isFPOrFPVectorTy()) {
    fail_malformed(instruction, "its operand is not floating point");
  }
  llvm::Value* first = nullptr;
  llvm::Value* second = nullptr;
  if (code == GLSLstd450Modf || code == GLSLstd450ModfStruct) {
    second = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
    llvm::Value* rest = builder_.CreateFSub(x, second);
    llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
    llvm::Value* is_infinite =
        builder_.CreateFCmpOEQ(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), infinity);
    rest = builder_.CreateSelect(is_infinite, zero(x->getType()), rest);
    first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, x);
  } else {
    first = frexp_parts(x, &second, x->getType()->getWithNewType(builder_.getInt32Ty()));
  }
  if (code == GLSLstd450ModfStruct || code == GLSLstd450FrexpStruct) {
    const Type& wanted = type(instruction);
    if (wanted.kind != TypeKind::structure || wanted.members.size() != 2 ||
        wanted.members[0].type->value != first->getType() ||
        wanted.members[1].type->value != second->getType()) {
      fail_malformed(instruction, "its result is not the structure that belongs to it");
    }
    llvm::Value* result = builder_.CreateInsertValue(llvm::PoisonValue::get(wanted.value), first, 0);
    return builder_.CreateInsertValue(result, second, 1);
  }
  const Pointer to = pointer(instruction.operand(3), instruction);
  if (to.type->value != second->getType()) {
    fail_malformed(instruction, "its second result does not fit what the pointer points to");
  }
  store(to, second, false, instruction);
  return first;
}

/// The determinant of the entries in those columns and rows.
llvm::Value* FunctionTranslator::minor(llvm::Value* matrix, std::span<const unsigned> columns,
                                       std::span<const unsigned> rows) {
  if (columns.size() == 1) {
    return entry(matrix, columns[0], rows[0]);
  }
  llvm::Value* sum = nullptr;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    std::vector<unsigned> others(rows.begin(), rows.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(index));
    llvm::Value* term = builder_.CreateFMul(entry(matrix, columns[0], rows[index]),
                                            minor(matrix, columns.subspan(1), others));
    sum = sum == nullptr   ? term
          : index % 2 == 0 ? builder_.CreateFAdd(sum, term)
                           : builder_.CreateFSub(sum, term);
  }
  return sum;
}

llvm::Value* FunctionTranslator::determinant(llvm::Value* matrix) {
  std::vector<unsigned> all(matrix->getType()->getArrayNumElements());
  std::iota(all.begin(), all.end(), 0U);
  return minor(matrix, all, all);
}

llvm::Value* FunctionTranslator::inverse(llvm::Value* matrix) {
  const auto size = static_cast<unsigned>(matrix->getType()->getArrayNumElements());
  llvm::Type* column_type = matrix->getType()->getArrayElementType();
  llvm::Value* scale = builder_.CreateFDiv(number(column_type->getScalarType(), 1.0), determinant(matrix));
  llvm::Value* result = llvm::PoisonValue::get(matrix->getType());
  for (unsigned column = 0; column < size; ++column) {
    llvm::Value* made = llvm::PoisonValue::get(column_type);
    for (unsigned row = 0; row < size; ++row) {
      // The adjugate is the transpose of the cofactors, so column and row trade places.
      std::vector<unsigned> columns;
      std::vector<unsigned> rows;
      for (unsigned index = 0; index < size; ++index) {
        if (index != row) {
          columns.push_back(index);
        }
        if (index != column) {
          rows.push_back(index);
        }
      }
      llvm::Value* cofactor = builder_.CreateFMul(minor(matrix, columns, rows), scale);
      made = builder_.CreateInsertElement(
          made, (row + column) % 2 == 0 ? cofactor : builder_.CreateFNeg(cofactor), row);
    }
    result = builder_.CreateInsertValue(result, made, column);
  }
  return result;
}

}  // namespace backplane::translator
