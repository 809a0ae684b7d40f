#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "failure.h"
#include "function.h"

// Transcendental functions and geometry.

namespace backplane::translator {
namespace {

struct LibraryFunction {
  const char* name;  ///< Of the C library, for double; with an "f" for float.
  unsigned arguments;
};

// NOLINTBEGIN(modernize-use-designated-initializers): a table, read by its columns.
const std::unordered_map<std::uint32_t, LibraryFunction>& library_functions() {
  static const std::unordered_map<std::uint32_t, LibraryFunction> table = {
      {GLSLstd450Sin, {"sin", 1}},     {GLSLstd450Cos, {"cos", 1}},     {GLSLstd450Tan, {"tan", 1}},
      {GLSLstd450Asin, {"asin", 1}},   {GLSLstd450Acos, {"acos", 1}},   {GLSLstd450Atan, {"atan", 1}},
      {GLSLstd450Sinh, {"sinh", 1}},   {GLSLstd450Cosh, {"cosh", 1}},   {GLSLstd450Tanh, {"tanh", 1}},
      {GLSLstd450Asinh, {"asinh", 1}}, {GLSLstd450Acosh, {"acosh", 1}}, {GLSLstd450Atanh, {"atanh", 1}},
      {GLSLstd450Atan2, {"atan2", 2}}, {GLSLstd450Pow, {"pow", 2}},     {GLSLstd450Exp, {"exp", 1}},
      {GLSLstd450Log, {"log", 1}},     {GLSLstd450Exp2, {"exp2", 1}},   {GLSLstd450Log2, {"log2", 1}}};
  return table;
}
// NOLINTEND(modernize-use-designated-initializers)

}  // namespace

/// A call of the C library's mathematics on scalars, in double or single precision. Such calls touch no
/// memory, so that the vectoriser may put a vector version in their place.
llvm::Value* FunctionTranslator::library(const char* name, std::span<llvm::Value* const> arguments) {
  llvm::Type* of = arguments.front()->getType();
  llvm::Type* computed = of->isDoubleTy() ? of : builder_.getFloatTy();
  std::vector<llvm::Value*> converted;
  for (llvm::Value* each : arguments) {
    converted.push_back(builder_.CreateFPCast(each, computed));
  }
  const std::string symbol = std::string(name) + (computed->isDoubleTy() ? "" : "f");
  const std::vector<llvm::Type*> types(arguments.size(), computed);
  llvm::FunctionCallee callee =
      translation_.output().getOrInsertFunction(symbol, llvm::FunctionType::get(computed, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  return builder_.CreateFPCast(builder_.CreateCall(callee, converted), of);
}

llvm::Value* FunctionTranslator::extended_math(const Instruction& instruction, std::uint32_t code) {
  const auto found = library_functions().find(code);
  if (found == library_functions().end()) {
    return nullptr;
  }
  if (type(instruction).scalar().kind != TypeKind::floating) {
    fail_malformed(instruction, "its result is not floating point");
  }
  std::vector<llvm::Value*> arguments;
  arguments.reserve(found->second.arguments);
  for (unsigned index = 0; index < found->second.arguments; ++index) {
    arguments.push_back(operand_of(instruction, 2 + index, type(instruction).value));
  }
  return each_component(
      arguments, [&](std::span<llvm::Value* const> parts) { return library(found->second.name, parts); });
}

llvm::Value* FunctionTranslator::length(llvm::Value* vector) {
  if (!vector->getType()->isVectorTy()) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, vector);
  }
  return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, dot(vector, vector));
}

llvm::Value* FunctionTranslator::refract(const Instruction& instruction) {
  llvm::Type* of = type(instruction).value;
  llvm::Value* incident = operand_of(instruction, 2, of);
  llvm::Value* normal = operand_of(instruction, 3, of);
  llvm::Value* eta = operand_of(instruction, 4, of->getScalarType());
  llvm::Value* cosine = of->isVectorTy() ? dot(normal, incident) : builder_.CreateFMul(normal, incident);
  llvm::Value* one = number(eta->getType(), 1.0);
  llvm::Value* sine = builder_.CreateFSub(one, builder_.CreateFMul(cosine, cosine));
  llvm::Value* k = builder_.CreateFSub(one, builder_.CreateFMul(builder_.CreateFMul(eta, eta), sine));
  llvm::Value* bent = builder_.CreateFAdd(builder_.CreateFMul(eta, cosine),
                                          builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, k));
  llvm::Value* result = builder_.CreateFSub(builder_.CreateFMul(splat(eta, of), incident),
                                            builder_.CreateFMul(splat(bent, of), normal));
  return builder_.CreateSelect(builder_.CreateFCmpOLT(k, zero(k->getType())), zero(of), result);
}

llvm::Value* FunctionTranslator::extended_geometry(const Instruction& instruction, std::uint32_t code) {
  switch (code) {
    case GLSLstd450Length:
    case GLSLstd450Distance:
    case GLSLstd450Cross:
    case GLSLstd450Normalize:
    case GLSLstd450FaceForward:
    case GLSLstd450Reflect:
    case GLSLstd450Refract:
      break;
    default:
      return nullptr;
  }
  llvm::Value* a = operand(instruction, 2);
  llvm::Type* of = a->getType();
  if (!of->isFPOrFPVectorTy()) {
    fail_malformed(instruction, "its operands are not floating point");
  }
  const auto argument = [&](std::size_t index) { return operand_of(instruction, 2 + index, of); };
  const auto product = [&](llvm::Value* x, llvm::Value* y) {
    return of->isVectorTy() ? dot(x, y) : builder_.CreateFMul(x, y);
  };
  switch (code) {
    case GLSLstd450Length:
      return length(a);
    case GLSLstd450Distance:
      return length(builder_.CreateFSub(a, argument(1)));
    case GLSLstd450Normalize:
      return builder_.CreateFDiv(a, splat(length(a), of));
    case GLSLstd450FaceForward:
      return builder_.CreateSelect(
          builder_.CreateFCmpOLT(product(argument(2), argument(1)), zero(of->getScalarType())), a,
          builder_.CreateFNeg(a));
    case GLSLstd450Reflect: {
      llvm::Value* twice = builder_.CreateFMul(product(argument(1), a), number(of->getScalarType(), 2.0));
      return builder_.CreateFSub(a, builder_.CreateFMul(splat(twice, of), argument(1)));
    }
    case GLSLstd450Refract:
      return refract(instruction);
    default: {
      const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(of);
      if (vector == nullptr || vector->getNumElements() != 3) {
        fail_malformed(instruction, "a cross product has three components");
      }
      llvm::Value* b = argument(1);
      const auto turn = [&](llvm::Value* each, int first) {
        return builder_.CreateShuffleVector(each, {first, (first + 1) % 3, (first + 2) % 3});
      };
      return builder_.CreateFSub(builder_.CreateFMul(turn(a, 1), turn(b, 2)),
                                 builder_.CreateFMul(turn(a, 2), turn(b, 1)));
    }
  }
}

}  // namespace backplane::translator
