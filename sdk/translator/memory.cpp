#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Metadata.h>

#include "failure.h"
#include "function.h"
#include "memory_image.h"

// Variables, addresses, loads and stores.

namespace backplane::translator {
namespace {

// Values are whole in registers; beyond this a load or store would turn into too many of them.
constexpr std::uint64_t kMaxScalarsByValue = 4096;
// Undefined variables of at most this size start as zeros: free where they end up in registers, and it keeps
// whatever else a kernel does with them defined.
constexpr std::uint64_t kMaxZeroedBytes = 64;
constexpr std::uint64_t kMinImageScalars = 8;

}  // namespace

bool FunctionTranslator::translate_memory(const Instruction& instruction) {
  switch (instruction.opcode) {
    case spv::Op::OpVariable:
      variable(instruction);
      return true;
    case spv::Op::OpAccessChain:
    case spv::Op::OpInBoundsAccessChain:
      access_chain(instruction);
      return true;
    case spv::Op::OpArrayLength:
      array_length(instruction);
      return true;
    case spv::Op::OpLoad: {
      const Pointer from = pointer(instruction.operand(0), instruction);
      set(instruction, load(from, memory_operands(instruction, 1), instruction));
      return true;
    }
    case spv::Op::OpStore: {
      const Pointer to = pointer(instruction.operand(0), instruction);
      llvm::Value* what = operand(instruction, 1);
      if (what->getType() != to.type->value ||
          type_of(instruction.operand(1), instruction).kind == TypeKind::pointer) {
        fail_malformed(instruction, "the value does not fit what the pointer points to");
      }
      store(to, what, memory_operands(instruction, 2), instruction);
      return true;
    }
    case spv::Op::OpCopyMemory:
      copy_memory(instruction);
      return true;
    default:
      return false;
  }
}

bool FunctionTranslator::memory_operands(const Instruction& instruction, std::size_t index) const {
  const auto volatile_bit = static_cast<std::uint32_t>(spv::MemoryAccessMask::Volatile);
  return index < instruction.operands.size() && (instruction.operands[index] & volatile_bit) != 0;
}

void FunctionTranslator::variable(const Instruction& instruction) {
  const Type& wanted = type(instruction);
  if (wanted.kind != TypeKind::pointer || wanted.storage != spv::StorageClass::Function ||
      wanted.element->value == nullptr || wanted.element->kind == TypeKind::pointer ||
      wanted.element->kind == TypeKind::nothing) {
    fail_unsupported(instruction, "a variable of that type within a function");
  }
  llvm::BasicBlock& start = output_->getEntryBlock();
  llvm::IRBuilder<> entry(&start, start.begin());
  llvm::AllocaInst* memory =
      entry.CreateAlloca(llvm::ArrayType::get(entry.getInt8Ty(), wanted.element->size), nullptr, "variable");
  memory->setAlignment(llvm::Align(16));
  const Pointer made{.address = memory,
                     .type = wanted.element,
                     .storage = wanted.storage,
                     .matrix = {},
                     .vector_stride = 0,
                     .root = nullptr};
  set_pointer(instruction, made);
  if (!instruction.operands.empty() && instruction.operands.size() > 1) {
    store(made, operand_of(instruction, 1, wanted.element->value), false, instruction);
  } else if (wanted.element->size <= kMaxZeroedBytes) {
    store(made, zero(wanted.element->value), false, instruction);
  }
}

void FunctionTranslator::access_chain(const Instruction& instruction) {
  Pointer at = pointer(instruction.operand(0), instruction);
  for (const Id index : instruction.operands.subspan(1)) {
    step_into(instruction, index, at);
  }
  set_pointer(instruction, at);
}

void FunctionTranslator::step_into(const Instruction& instruction, Id index, Pointer& at) {
  const Type& outer = *at.type;
  if (outer.kind == TypeKind::structure) {
    const std::uint64_t member = literal(index, instruction);
    if (member >= outer.members.size()) {
      fail_malformed(instruction, "the structure has no member " + std::to_string(member));
    }
    const Member& found = outer.members[member];
    at = offset(at, found.offset, *found.type);
    at.matrix = found.matrix;
    return;
  }
  llvm::Value* position = value(index, instruction);
  const Type& position_type = type_of(index, instruction);
  if (position_type.kind != TypeKind::integer || outer.element == nullptr ||
      outer.kind == TypeKind::pointer) {
    fail_malformed(instruction, "an index into what has no elements, or one that is no integer");
  }
  std::uint64_t stride = outer.stride;
  if (outer.kind == TypeKind::matrix) {
    const bool is_row_major = at.matrix.stride != 0 && at.matrix.is_row_major;
    stride = is_row_major            ? outer.element->element->size
             : at.matrix.stride != 0 ? at.matrix.stride
                                     : outer.element->size;
    at.vector_stride = is_row_major ? at.matrix.stride : 0;
    at.matrix = {};
  } else if (outer.kind == TypeKind::vector) {
    stride = at.vector_stride != 0 ? at.vector_stride : outer.element->size;
    at.vector_stride = 0;
  }
  advance(at, position, position_type, stride);
  at.type = outer.element;
}

void FunctionTranslator::advance(Pointer& at, llvm::Value* index, const Type& index_type,
                                 std::uint64_t stride) {
  llvm::Type* wide = builder_.getInt64Ty();
  llvm::Value* distance = index_type.is_signed ? builder_.CreateSExtOrTrunc(index, wide)
                                               : builder_.CreateZExtOrTrunc(index, wide);
  distance = builder_.CreateMul(distance, builder_.getInt64(stride));
  at.address = builder_.CreateGEP(builder_.getInt8Ty(), at.address, distance);
}

Pointer FunctionTranslator::offset(const Pointer& whole, std::uint64_t bytes, const Type& type) {
  Pointer moved = whole;
  moved.type = &type;
  if (bytes != 0) {
    moved.address = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), whole.address, bytes);
  }
  return moved;
}

/// One element, column, component or member of what `whole` points to.
Pointer FunctionTranslator::part(const Pointer& whole, std::uint32_t index) {
  const Type& outer = *whole.type;
  if (outer.kind == TypeKind::structure) {
    Pointer moved = offset(whole, outer.members[index].offset, *outer.members[index].type);
    moved.matrix = outer.members[index].matrix;
    return moved;
  }
  if (outer.kind == TypeKind::matrix && whole.matrix.stride != 0) {
    const bool is_row_major = whole.matrix.is_row_major;
    const std::uint64_t stride = is_row_major ? outer.element->element->size : whole.matrix.stride;
    Pointer moved = offset(whole, stride * index, *outer.element);
    moved.vector_stride = is_row_major ? whole.matrix.stride : 0;
    moved.matrix = {};
    return moved;
  }
  if (outer.kind == TypeKind::vector) {
    const std::uint64_t stride = whole.vector_stride != 0 ? whole.vector_stride : outer.element->size;
    Pointer moved = offset(whole, stride * index, *outer.element);
    moved.vector_stride = 0;
    return moved;
  }
  return offset(whole, (outer.is_array() ? outer.stride : outer.element->size) * index, *outer.element);
}

void FunctionTranslator::array_length(const Instruction& instruction) {
  const Pointer block = pointer(instruction.operand(0), instruction);
  const std::uint32_t member = instruction.operand(1);
  if (block.root == nullptr || !block.root->is_buffer() || block.type != block.root->type) {
    fail_unsupported(instruction, "the length of an array that is not a buffer's own");
  }
  if (member >= block.type->members.size() ||
      block.type->members[member].type->kind != TypeKind::runtime_array) {
    fail_malformed(instruction, "the member is not an array without a length");
  }
  if (!type(instruction).value->isIntegerTy()) {
    fail_malformed(instruction, "its result is not an integer");
  }
  const Member& array = block.type->members[member];
  auto* address = llvm::cast<llvm::Argument>(values_.at(block.root->definition->result));
  llvm::Value* bytes = output_->getArg(address->getArgNo() + 1);
  llvm::Value* start = builder_.getInt64(array.offset);
  llvm::Value* rest = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, bytes, start);
  llvm::Value* count = builder_.CreateUDiv(rest, builder_.getInt64(array.type->stride));
  set(instruction, builder_.CreateZExtOrTrunc(count, type(instruction).value));
}

void FunctionTranslator::copy_memory(const Instruction& instruction) {
  const Pointer to = pointer(instruction.operand(0), instruction);
  const Pointer from = pointer(instruction.operand(1), instruction);
  const bool is_volatile = memory_operands(instruction, 2);
  if (to.type->value == nullptr || to.type->value != from.type->value) {
    fail_malformed(instruction, "source and destination have different types");
  }
  store(to, load(from, is_volatile, instruction), is_volatile, instruction);
}

llvm::Value* FunctionTranslator::load(const Pointer& from, bool is_volatile, const Instruction& user) {
  const Type& what = *from.type;
  if (what.value == nullptr || what.kind == TypeKind::pointer || what.kind == TypeKind::nothing) {
    fail_malformed(user, "a load of what has no value");
  }
  if (what.scalars > kMaxScalarsByValue) {
    fail_unsupported(user, "a value of more than " + std::to_string(kMaxScalarsByValue) + " scalars");
  }
  if (what.is_scalar()) {
    return load_scalar(from, is_volatile);
  }
  if (what.kind == TypeKind::vector) {
    return load_vector(from, is_volatile);
  }
  llvm::Value* result = llvm::PoisonValue::get(what.value);
  const auto count =
      what.kind == TypeKind::structure ? static_cast<std::uint32_t>(what.members.size()) : what.count;
  for (std::uint32_t index = 0; index < count; ++index) {
    result = builder_.CreateInsertValue(result, load(part(from, index), is_volatile, user), index);
  }
  return result;
}

llvm::Value* FunctionTranslator::load_scalar(const Pointer& from, bool is_volatile) {
  const Type& what = *from.type;
  llvm::Type* stored = what.kind == TypeKind::boolean ? builder_.getInt8Ty() : what.value;
  llvm::LoadInst* loaded =
      builder_.CreateAlignedLoad(stored, from.address, llvm::Align(what.alignment), is_volatile);
  if (from.storage == spv::StorageClass::PushConstant) {
    loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  }
  return what.kind == TypeKind::boolean ? builder_.CreateTrunc(loaded, what.value) : loaded;
}

llvm::Value* FunctionTranslator::load_vector(const Pointer& from, bool is_volatile) {
  const Type& what = *from.type;
  if (from.vector_stride != 0 || what.element->kind == TypeKind::boolean) {
    llvm::Value* result = llvm::PoisonValue::get(what.value);
    for (std::uint32_t index = 0; index < what.count; ++index) {
      result = builder_.CreateInsertElement(result, load_scalar(part(from, index), is_volatile), index);
    }
    return result;
  }
  llvm::LoadInst* loaded =
      builder_.CreateAlignedLoad(what.value, from.address, llvm::Align(what.alignment), is_volatile);
  if (from.storage == spv::StorageClass::PushConstant) {
    loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  }
  return loaded;
}

void FunctionTranslator::store(const Pointer& to, llvm::Value* what, bool is_volatile,
                               const Instruction& user) {
  const Type& type = *to.type;
  if (to.storage == spv::StorageClass::PushConstant || to.storage == spv::StorageClass::Input ||
      (to.root != nullptr && to.root->is_read_only)) {
    fail_malformed(user, "a store to what may only be read");
  }
  if (store_constant(to, what)) {
    return;
  }
  if (type.scalars > kMaxScalarsByValue) {
    fail_unsupported(user, "a value of more than " + std::to_string(kMaxScalarsByValue) + " scalars");
  }
  if (type.is_scalar()) {
    store_scalar(to, what, is_volatile);
    return;
  }
  if (type.kind == TypeKind::vector) {
    store_vector(to, what, is_volatile);
    return;
  }
  const auto count =
      type.kind == TypeKind::structure ? static_cast<std::uint32_t>(type.members.size()) : type.count;
  for (std::uint32_t index = 0; index < count; ++index) {
    store(part(to, index), builder_.CreateExtractValue(what, index), is_volatile, user);
  }
}

void FunctionTranslator::store_scalar(const Pointer& to, llvm::Value* what, bool is_volatile) {
  if (to.type->kind == TypeKind::boolean) {
    what = builder_.CreateZExt(what, builder_.getInt8Ty());
  }
  builder_.CreateAlignedStore(what, to.address, llvm::Align(to.type->alignment), is_volatile);
}

void FunctionTranslator::store_vector(const Pointer& to, llvm::Value* what, bool is_volatile) {
  if (to.vector_stride == 0 && to.type->element->kind != TypeKind::boolean) {
    builder_.CreateAlignedStore(what, to.address, llvm::Align(to.type->alignment), is_volatile);
    return;
  }
  for (std::uint32_t index = 0; index < to.type->count; ++index) {
    store_scalar(part(to, index), builder_.CreateExtractElement(what, index), is_volatile);
  }
}

/// A table of constants is one copy from read-only memory: stored scalar by scalar it would be rebuilt by
/// every invocation. Only for private memory, where what lies between the parts is nobody's.
bool FunctionTranslator::store_constant(const Pointer& to, llvm::Value* what) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(what);
  const bool is_private =
      to.storage == spv::StorageClass::Function || to.storage == spv::StorageClass::Private;
  if (constant == nullptr || !is_private || !to.is_plain() || to.type->scalars < kMinImageScalars) {
    return false;
  }
  if (constant->isNullValue()) {
    builder_.CreateMemSet(to.address, builder_.getInt8(0), to.type->size, llvm::Align(to.type->alignment));
    return true;
  }
  const std::vector<std::uint8_t> bytes = memory_image(*constant, *to.type);
  llvm::Constant* image = llvm::ConstantDataArray::get(builder_.getContext(), bytes);
  auto* global = new llvm::GlobalVariable(translation_.output(), image->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, image, "constant");
  global->setAlignment(llvm::Align(16));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  const llvm::Align alignment(to.type->alignment);
  builder_.CreateMemCpy(to.address, alignment, global, llvm::Align(16), bytes.size());
  return true;
}

}  // namespace backplane::translator
