#include <cstdint>

#include <llvm/IR/Constants.h>

#include "failure.h"
#include "function.h"

// Products of vectors and matrices. A matrix is an array of its columns.

namespace backplane::translator {
namespace {

unsigned columns_of(const llvm::Value* matrix) {
  return static_cast<unsigned>(matrix->getType()->getArrayNumElements());
}

unsigned components_of(const llvm::Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

bool is_vector(const llvm::Value* value) {
  return value->getType()->isVectorTy() && value->getType()->isFPOrFPVectorTy();
}

bool is_matrix(const llvm::Value* value) {
  return value->getType()->isArrayTy() && value->getType()->getArrayElementType()->isVectorTy();
}

unsigned rows_of(const llvm::Value* matrix) {
  return llvm::cast<llvm::FixedVectorType>(matrix->getType()->getArrayElementType())->getNumElements();
}

}  // namespace

llvm::Value* FunctionTranslator::splat(llvm::Value* scalar, const llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector == nullptr ? scalar : builder_.CreateVectorSplat(vector->getNumElements(), scalar);
}

llvm::Value* FunctionTranslator::dot(llvm::Value* a, llvm::Value* b) {
  llvm::Value* sum = nullptr;
  for (unsigned index = 0; index < components_of(a); ++index) {
    auto* product =
        builder_.CreateFMul(builder_.CreateExtractElement(a, index), builder_.CreateExtractElement(b, index));
    if (auto* made = llvm::dyn_cast<llvm::Instruction>(product)) {
      made->setHasAllowContract(true);
    }
    if (sum == nullptr) {
      sum = product;
      continue;
    }
    sum = builder_.CreateFAdd(sum, product);
    if (auto* made = llvm::dyn_cast<llvm::Instruction>(sum)) {
      made->setHasAllowContract(true);
    }
  }
  return sum;
}

llvm::Value* FunctionTranslator::matrix_times_vector(llvm::Value* matrix, llvm::Value* vector,
                                                     const Instruction& instruction) {
  if (!is_matrix(matrix) || !is_vector(vector) || columns_of(matrix) != components_of(vector) ||
      matrix->getType()->getArrayElementType()->getScalarType() != vector->getType()->getScalarType()) {
    fail_malformed(instruction, "the matrix and the vector do not fit");
  }
  llvm::Value* sum = nullptr;
  for (unsigned column = 0; column < columns_of(matrix); ++column) {
    llvm::Value* values = builder_.CreateExtractValue(matrix, column);
    llvm::Value* factor = splat(builder_.CreateExtractElement(vector, column), values->getType());
    llvm::Value* product = floating(instruction, builder_.CreateFMul(values, factor));
    sum = sum == nullptr ? product : floating(instruction, builder_.CreateFAdd(sum, product));
  }
  return sum;
}

llvm::Value* FunctionTranslator::transpose(llvm::Value* matrix, const Type& result) {
  llvm::Value* made = llvm::PoisonValue::get(result.value);
  for (unsigned row = 0; row < rows_of(matrix); ++row) {
    llvm::Value* column = llvm::PoisonValue::get(result.element->value);
    for (unsigned index = 0; index < columns_of(matrix); ++index) {
      column = builder_.CreateInsertElement(column, entry(matrix, index, row), index);
    }
    made = builder_.CreateInsertValue(made, column, row);
  }
  return made;
}

llvm::Value* FunctionTranslator::entry(llvm::Value* matrix, unsigned column, unsigned row) {
  return builder_.CreateExtractElement(builder_.CreateExtractValue(matrix, column), row);
}

bool FunctionTranslator::translate_matrix(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpVectorTimesScalar:
    case OpMatrixTimesScalar:
    case OpVectorTimesMatrix:
    case OpMatrixTimesVector:
    case OpMatrixTimesMatrix:
    case OpOuterProduct:
    case OpDot:
    case OpTranspose:
      break;
    default:
      return false;
  }
  const Type& wanted = type(instruction);
  llvm::Value* a = operand(instruction, 0);
  llvm::Value* b = instruction.opcode == OpTranspose ? nullptr : operand(instruction, 1);
  const auto require = [&](bool fits) {
    if (!fits) {
      fail_malformed(instruction, "its operands do not fit its result");
    }
  };
  switch (instruction.opcode) {
    case OpVectorTimesScalar:
      require(is_vector(a) && b->getType() == a->getType()->getScalarType());
      set(instruction, floating(instruction, builder_.CreateFMul(a, splat(b, a->getType()))));
      break;
    case OpDot:
      require(is_vector(a) && a->getType() == b->getType());
      set(instruction, dot(a, b));
      break;
    case OpMatrixTimesVector:
      set(instruction, matrix_times_vector(a, b, instruction));
      break;
    case OpTranspose:
      require(is_matrix(a) && wanted.kind == TypeKind::matrix && wanted.count == rows_of(a) &&
              wanted.element->count == columns_of(a));
      set(instruction, transpose(a, wanted));
      break;
    case OpVectorTimesMatrix: {
      require(is_vector(a) && is_matrix(b) && wanted.kind == TypeKind::vector &&
              wanted.count == columns_of(b) && b->getType()->getArrayElementType() == a->getType());
      llvm::Value* result = llvm::PoisonValue::get(wanted.value);
      for (unsigned column = 0; column < wanted.count; ++column) {
        result = builder_.CreateInsertElement(result, dot(a, builder_.CreateExtractValue(b, column)), column);
      }
      set(instruction, result);
      break;
    }
    default: {
      require(wanted.kind == TypeKind::matrix);
      llvm::Value* result = llvm::PoisonValue::get(wanted.value);
      for (unsigned column = 0; column < wanted.count; ++column) {
        llvm::Value* made = nullptr;
        if (instruction.opcode == OpMatrixTimesMatrix) {
          require(is_matrix(a) && is_matrix(b) && columns_of(b) == wanted.count);
          made = matrix_times_vector(a, builder_.CreateExtractValue(b, column), instruction);
        } else if (instruction.opcode == OpMatrixTimesScalar) {
          require(a->getType() == wanted.value && b->getType() == wanted.element->element->value);
          made = builder_.CreateFMul(builder_.CreateExtractValue(a, column), splat(b, wanted.element->value));
        } else {
          require(a->getType() == wanted.element->value && is_vector(b) && components_of(b) == wanted.count);
          made = builder_.CreateFMul(a, splat(builder_.CreateExtractElement(b, column), a->getType()));
        }
        require(made->getType() == wanted.element->value);
        result = builder_.CreateInsertValue(result, floating(instruction, made), column);
      }
      set(instruction, result);
    }
  }
  return true;
}

}  // namespace backplane::translator
