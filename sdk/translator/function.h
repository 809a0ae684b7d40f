#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Value.h>

#include "module.h"
#include "translation.h"
#include "types.h"

namespace backplane::translator {

/// An address with what LLVM's pointer does not say.
struct Pointer {
  llvm::Value* address = nullptr;
  const Type* type = nullptr;  ///< What is there.
  spv::StorageClass storage = spv::StorageClass::Function;
  MatrixLayout matrix;                      ///< For matrices in it.
  std::uint32_t vector_stride = 0;          ///< Bytes between a vector's components; 0 for side by side.
  const InterfaceVariable* root = nullptr;  ///< The variable it points into, if that is known.

  /// Whether the address and the type say everything, so that it may pass through a call or a phi.
  bool is_plain() const { return matrix == MatrixLayout{} && vector_stride == 0; }
};

/// Translates one function. Each group of instructions has a file of its own; `translate_*` answers whether
/// the instruction is of its group. Blocks map one to one. One thread at a time, used once.
class FunctionTranslator {
 public:
  FunctionTranslator(const Translation& translation, const Function& function, llvm::Function* output);

  /// Throws `Failure`.
  void translate();

 private:
  // function.cpp
  void bind_parameters();
  void translate_block(const Block& block);
  void translate_instruction(const Instruction& instruction);
  llvm::Value* value(Id id, const Instruction& user) const;
  llvm::Value* operand(const Instruction& instruction, std::size_t index) const;
  /// Operands that must all have LLVM type `type`.
  llvm::Value* operand_of(const Instruction& instruction, std::size_t index, const llvm::Type* type) const;
  Pointer pointer(Id id, const Instruction& user) const;
  void set(const Instruction& instruction, llvm::Value* result);
  void set_pointer(const Instruction& instruction, const Pointer& result);
  const Type& type(const Instruction& instruction) const;
  /// The SPIR-V type of a value.
  const Type& type_of(Id id, const Instruction& user) const;
  std::uint64_t literal(Id id, const Instruction& user) const {
    return translation_.integer_constant(id, user);
  }
  bool has_decoration(const Instruction& instruction, spv::Decoration kind) const;

  // memory.cpp
  bool translate_memory(const Instruction& instruction);
  void variable(const Instruction& instruction);
  void access_chain(const Instruction& instruction);
  void step_into(const Instruction& instruction, Id index, Pointer& at);
  void advance(Pointer& at, llvm::Value* index, const Type& index_type, std::uint64_t stride);
  void array_length(const Instruction& instruction);
  void copy_memory(const Instruction& instruction);
  bool memory_operands(const Instruction& instruction, std::size_t index) const;
  llvm::Value* load(const Pointer& from, bool is_volatile, const Instruction& user);
  llvm::Value* load_scalar(const Pointer& from, bool is_volatile);
  llvm::Value* load_vector(const Pointer& from, bool is_volatile);
  void store(const Pointer& to, llvm::Value* what, bool is_volatile, const Instruction& user);
  void store_scalar(const Pointer& to, llvm::Value* what, bool is_volatile);
  void store_vector(const Pointer& to, llvm::Value* what, bool is_volatile);
  bool store_constant(const Pointer& to, llvm::Value* what);
  Pointer part(const Pointer& whole, std::uint32_t index);
  Pointer offset(const Pointer& whole, std::uint64_t bytes, const Type& type);

  // arithmetic.cpp, matrix.cpp, bits.cpp, conversion.cpp, composite.cpp
  bool translate_arithmetic(const Instruction& instruction);
  bool translate_integer(const Instruction& instruction);
  bool translate_comparison(const Instruction& instruction);
  bool translate_logic(const Instruction& instruction);
  void wide_integer(const Instruction& instruction);
  llvm::Value* floating(const Instruction& instruction, llvm::Value* result) const;
  llvm::Value* divisor(llvm::Value* dividend, llvm::Value* divisor, bool is_signed);
  bool translate_matrix(const Instruction& instruction);
  llvm::Value* dot(llvm::Value* a, llvm::Value* b);
  llvm::Value* matrix_times_vector(llvm::Value* matrix, llvm::Value* vector, const Instruction& instruction);
  llvm::Value* transpose(llvm::Value* matrix, const Type& result);
  bool translate_bits(const Instruction& instruction);
  void bit_field(const Instruction& instruction);
  bool translate_conversion(const Instruction& instruction);
  bool translate_composite(const Instruction& instruction);
  void composite_construct(const Instruction& instruction);
  llvm::Value* extract(llvm::Value* whole, std::span<const std::uint32_t> path, const Instruction& user);
  llvm::Value* insert(llvm::Value* whole, llvm::Value* part, std::span<const std::uint32_t> path,
                      const Instruction& user);
  void vector_shuffle(const Instruction& instruction);
  llvm::Value* splat(llvm::Value* scalar, const llvm::Type* like);
  llvm::Value* zero(llvm::Type* of) const { return llvm::Constant::getNullValue(of); }
  llvm::Value* number(llvm::Type* of, double value) const { return llvm::ConstantFP::get(of, value); }

  // control_flow.cpp
  bool translate_control_flow(const Instruction& instruction);
  void branch_conditional(const Instruction& instruction);
  void switch_over(const Instruction& instruction);
  void call(const Instruction& instruction);
  void return_from(llvm::Value* result);
  void finish_phis();
  llvm::BasicBlock* block(Id label, const Instruction& user) const;

  // atomics.cpp
  bool translate_atomic(const Instruction& instruction);
  llvm::AtomicOrdering ordering(Id semantics, const Instruction& user) const;
  Pointer atomic_pointer(const Instruction& instruction) const;
  void read_modify_write(const Instruction& instruction, llvm::AtomicRMWInst::BinOp operation,
                         llvm::Value* value);
  void compare_exchange(const Instruction& instruction);

  // glsl_std_450.cpp, glsl_math.cpp, glsl_packing.cpp
  bool translate_extended(const Instruction& instruction);
  llvm::Value* extended_common(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_minmax(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_math(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_geometry(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_packing(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_bits(const Instruction& instruction, std::uint32_t code);
  llvm::Value* extended_exponent(const Instruction& instruction, std::uint32_t code);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, std::span<llvm::Value* const> arguments);
  llvm::Value* library(const char* name, std::span<llvm::Value* const> arguments);
  llvm::Value* each_component(std::span<llvm::Value* const> arguments,
                              const std::function<llvm::Value*(std::span<llvm::Value* const>)>& apply);
  llvm::Value* length(llvm::Value* vector);
  llvm::Value* select_less(llvm::Value* a, llvm::Value* b, llvm::Value* if_less, llvm::Value* otherwise);
  llvm::Value* frexp_parts(llvm::Value* x, llvm::Value** exponent, llvm::Type* exponent_type);
  llvm::Value* refract(const Instruction& instruction);
  llvm::Value* determinant(llvm::Value* matrix);
  llvm::Value* inverse(llvm::Value* matrix);
  llvm::Value* entry(llvm::Value* matrix, unsigned column, unsigned row);
  llvm::Value* minor(llvm::Value* matrix, std::span<const unsigned> columns, std::span<const unsigned> rows);

  const Translation& translation_;
  const Function& function_;
  llvm::Function* output_;
  llvm::IRBuilder<> builder_;
  std::unordered_map<Id, llvm::Value*> values_;
  std::unordered_map<Id, Pointer> pointers_;
  std::unordered_map<Id, const Type*> value_types_;
  std::unordered_map<Id, llvm::BasicBlock*> blocks_;
  std::unordered_map<llvm::BasicBlock*, Id> labels_;
  std::vector<std::pair<const Instruction*, llvm::PHINode*>> phis_;
};

}  // namespace backplane::translator
