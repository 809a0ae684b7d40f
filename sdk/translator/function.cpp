#include "function.h"

#include <cstddef>
#include <string>

#include <llvm/IR/BasicBlock.h>

#include "failure.h"

namespace backplane::translator {

FunctionTranslator::FunctionTranslator(const Translation& translation, const Function& function,
                                       llvm::Function* output)
    : translation_(translation),
      function_(function),
      output_(output),
      builder_(translation.output().getContext()) {}

void FunctionTranslator::translate() {
  // LLVM's entry block may not be branched to; SPIR-V's may not either, but that is for us to make sure of.
  llvm::BasicBlock* start = llvm::BasicBlock::Create(builder_.getContext(), "start", output_);
  for (const Block& each : function_.blocks) {
    llvm::BasicBlock* made = llvm::BasicBlock::Create(builder_.getContext(), "block", output_);
    blocks_[each.label] = made;
    labels_[made] = each.label;
  }
  builder_.SetInsertPoint(start);
  bind_parameters();
  builder_.CreateBr(blocks_.at(function_.blocks.front().label));
  for (const Block& each : function_.blocks) {
    translate_block(each);
  }
  finish_phis();
}

void FunctionTranslator::bind_parameters() {
  auto* argument = output_->arg_begin();
  for (const InterfaceVariable& variable : translation_.interface()) {
    const Id id = variable.definition->result;
    values_[id] = argument;
    value_types_[id] = &translation_.types().get(variable.definition->type, *variable.definition);
    pointers_[id] = {.address = argument,
                     .type = variable.type,
                     .storage = variable.storage,
                     .matrix = {},
                     .vector_stride = 0,
                     .root = &variable};
    argument += variable.is_buffer() ? 2 : 1;
  }
  for (const Instruction& parameter : function_.parameters) {
    const Type& parameter_type = translation_.types().get(parameter.type, parameter);
    if (parameter_type.kind == TypeKind::pointer) {
      set_pointer(parameter, {.address = argument,
                              .type = parameter_type.element,
                              .storage = parameter_type.storage,
                              .matrix = {},
                              .vector_stride = 0,
                              .root = nullptr});
    } else {
      set(parameter, argument);
    }
    ++argument;
  }
}

void FunctionTranslator::translate_block(const Block& block) {
  builder_.SetInsertPoint(blocks_.at(block.label));
  for (const Instruction& each : block.instructions) {
    if (builder_.GetInsertBlock()->getTerminator() != nullptr) {
      fail_malformed(each, "an instruction after the end of its block");
    }
    translate_instruction(each);
  }
}

void FunctionTranslator::translate_instruction(const Instruction& instruction) {
  const bool is_known =
      translate_memory(instruction) || translate_arithmetic(instruction) || translate_integer(instruction) ||
      translate_comparison(instruction) || translate_logic(instruction) || translate_matrix(instruction) ||
      translate_bits(instruction) || translate_conversion(instruction) || translate_composite(instruction) ||
      translate_control_flow(instruction) || translate_atomic(instruction) || translate_extended(instruction);
  if (!is_known) {
    fail_unsupported(instruction, "this instruction is not supported");
  }
}

llvm::Value* FunctionTranslator::value(Id id, const Instruction& user) const {
  if (const auto found = values_.find(id); found != values_.end()) {
    return found->second;
  }
  if (llvm::Constant* constant = translation_.constant(id)) {
    return constant;
  }
  fail_malformed(user, "%" + std::to_string(id) + " is not a value that is known here");
}

llvm::Value* FunctionTranslator::operand(const Instruction& instruction, std::size_t index) const {
  return value(instruction.operand(index), instruction);
}

llvm::Value* FunctionTranslator::operand_of(const Instruction& instruction, std::size_t index,
                                            const llvm::Type* type) const {
  llvm::Value* found = operand(instruction, index);
  if (found->getType() != type) {
    fail_malformed(instruction, "operand " + std::to_string(index) + " has the wrong type");
  }
  return found;
}

Pointer FunctionTranslator::pointer(Id id, const Instruction& user) const {
  const auto found = pointers_.find(id);
  if (found == pointers_.end()) {
    fail_malformed(user, "%" + std::to_string(id) + " is not a pointer that is known here");
  }
  return found->second;
}

void FunctionTranslator::set(const Instruction& instruction, llvm::Value* result) {
  const Type& wanted = type(instruction);
  if (wanted.value != result->getType()) {
    fail_malformed(instruction, "its operands do not give its result type");
  }
  values_[instruction.result] = result;
  value_types_[instruction.result] = &wanted;
}

void FunctionTranslator::set_pointer(const Instruction& instruction, const Pointer& result) {
  const Type& wanted = type(instruction);
  if (wanted.kind != TypeKind::pointer || wanted.element != result.type) {
    fail_malformed(instruction, "its operands do not give its result type");
  }
  set(instruction, result.address);
  pointers_[instruction.result] = result;
}

const Type& FunctionTranslator::type(const Instruction& instruction) const {
  return translation_.types().get(instruction.type, instruction);
}

const Type& FunctionTranslator::type_of(Id id, const Instruction& user) const {
  if (const auto found = value_types_.find(id); found != value_types_.end()) {
    return *found->second;
  }
  const Instruction* constant = translation_.module().global(id);
  if (constant == nullptr || constant->type == 0) {
    fail_malformed(user, "%" + std::to_string(id) + " is not a value that is known here");
  }
  return translation_.types().get(constant->type, *constant);
}

bool FunctionTranslator::has_decoration(const Instruction& instruction, spv::Decoration kind) const {
  return translation_.module().decoration(instruction.result, kind) != nullptr;
}

}  // namespace backplane::translator
