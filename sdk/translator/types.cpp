#include "types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Type.h>

#include "failure.h"
#include "names.h"

namespace backplane::translator {
namespace {

// Bounds that no kernel reaches, chosen so that sums of sizes cannot overflow and recursion over types is
// shallow.
constexpr std::uint64_t kMaxTypeBytes = std::uint64_t{1} << 31U;
constexpr std::uint32_t kMaxDepth = 64;
constexpr std::uint32_t kMaxMembers = 16'384;

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

const Type& innermost(const Type& type) {
  const Type* each = &type;
  while (each->is_array()) {
    each = each->element;
  }
  return *each;
}

/// The bytes of a member whose matrices lie as `layout` says.
std::uint64_t member_size(const Type& type, const MatrixLayout& layout) {
  if (type.kind != TypeKind::matrix || layout.stride == 0) {
    return type.size;
  }
  return std::uint64_t{layout.stride} * (layout.is_row_major ? type.element->count : type.count);
}

void check_size(const Instruction& instruction, std::uint64_t size) {
  if (size > kMaxTypeBytes) {
    fail_unsupported(instruction, "a type of more than 2 GiB");
  }
}

}  // namespace

std::uint64_t constant_literal(const Instruction& constant) {
  if (constant.opcode != spv::Op::OpConstant) {
    fail_malformed(constant, "a literal constant is needed here");
  }
  std::uint64_t value = constant.operand(0);
  if (constant.operands.size() > 1) {
    value |= std::uint64_t{constant.operands[1]} << 32U;
  }
  return value;
}

TypeTable::TypeTable(const Module& module, llvm::LLVMContext& context) : module_(module), context_(context) {
  for (const Instruction& each : module.globals()) {
    add(each);
  }
}

const Type& TypeTable::get(Id id, const Instruction& user) const {
  const auto found = types_.find(id);
  if (found == types_.end()) {
    fail_malformed(user, "%" + std::to_string(id) + " is not a type");
  }
  return *found->second;
}

void TypeTable::add(const Instruction& instruction) {
  auto type = std::make_unique<Type>();
  switch (instruction.opcode) {
    case spv::Op::OpTypeVoid:
      type->value = llvm::Type::getVoidTy(context_);
      break;
    case spv::Op::OpTypeBool:
    case spv::Op::OpTypeInt:
    case spv::Op::OpTypeFloat:
      read_scalar(instruction, *type);
      break;
    case spv::Op::OpTypeVector:
      read_vector(instruction, *type);
      break;
    case spv::Op::OpTypeMatrix:
      read_matrix(instruction, *type);
      break;
    case spv::Op::OpTypeArray:
    case spv::Op::OpTypeRuntimeArray:
      read_array(instruction, *type);
      break;
    case spv::Op::OpTypeStruct:
      read_structure(instruction, *type);
      break;
    case spv::Op::OpTypePointer:
      read_pointer(instruction, *type);
      break;
    case spv::Op::OpTypeFunction:
      read_function(instruction, *type);
      break;
    default:
      if (opcode_name(instruction.opcode).starts_with("OpType")) {
        fail_unsupported(instruction, "this type is not supported");
      }
      return;
  }
  types_[instruction.result] = std::move(type);
}

const Type& TypeTable::part(const Instruction& instruction, Id id, Type& type) const {
  const Type& part = get(id, instruction);
  type.depth = std::max(type.depth, part.depth + 1);
  if (type.depth > kMaxDepth) {
    fail_unsupported(instruction, "types nested more than " + std::to_string(kMaxDepth) + " deep");
  }
  if (part.value == nullptr || part.kind == TypeKind::nothing || part.kind == TypeKind::pointer) {
    if (part.kind != TypeKind::runtime_array) {
      fail_unsupported(instruction, part.kind == TypeKind::structure
                                        ? "blocks within something else (arrays of buffers are not supported)"
                                        : "a composite of %" + std::to_string(id));
    }
  }
  return part;
}

void TypeTable::read_scalar(const Instruction& instruction, Type& type) {
  if (instruction.opcode == spv::Op::OpTypeBool) {
    type.kind = TypeKind::boolean;
    type.width = 1;
    type.value = llvm::Type::getInt1Ty(context_);
    type.size = 1;
    return;
  }
  type.width = instruction.operand(0);
  const bool is_float = instruction.opcode == spv::Op::OpTypeFloat;
  const std::uint32_t narrowest = is_float ? 16 : 8;
  if (type.width < narrowest || type.width > 64 || (type.width & (type.width - 1)) != 0) {
    fail_unsupported(instruction, "a width of " + std::to_string(type.width) + " bits");
  }
  if (is_float) {
    type.kind = TypeKind::floating;
    type.value = type.width == 16   ? llvm::Type::getHalfTy(context_)
                 : type.width == 32 ? llvm::Type::getFloatTy(context_)
                                    : llvm::Type::getDoubleTy(context_);
  } else {
    type.kind = TypeKind::integer;
    type.is_signed = instruction.operand(1) != 0;
    type.value = llvm::Type::getIntNTy(context_, type.width);
  }
  type.size = type.width / 8;
  type.alignment = type.width / 8;
}

void TypeTable::read_vector(const Instruction& instruction, Type& type) {
  type.kind = TypeKind::vector;
  type.element = &part(instruction, instruction.operand(0), type);
  type.count = instruction.operand(1);
  if (!type.element->is_scalar() || type.count < 2 || type.count > 16) {
    fail_malformed(instruction, "a vector of that element and size");
  }
  type.size = type.element->size * type.count;
  type.alignment = type.element->alignment;
  type.scalars = type.count;
  type.value = llvm::FixedVectorType::get(type.element->value, type.count);
}

void TypeTable::read_matrix(const Instruction& instruction, Type& type) {
  type.kind = TypeKind::matrix;
  type.element = &part(instruction, instruction.operand(0), type);
  type.count = instruction.operand(1);
  if (type.element->kind != TypeKind::vector || type.count < 2 || type.count > 4) {
    fail_malformed(instruction, "a matrix of that column and size");
  }
  type.size = type.element->size * type.count;
  type.alignment = type.element->alignment;
  type.scalars = type.element->scalars * type.count;
  type.value = llvm::ArrayType::get(type.element->value, type.count);
}

void TypeTable::read_array(const Instruction& instruction, Type& type) {
  const Type& element = part(instruction, instruction.operand(0), type);
  type.element = &element;
  type.alignment = element.alignment;
  type.stride = round_up(element.size, element.alignment);
  if (const Decoration* stride = module_.decoration(instruction.result, spv::Decoration::ArrayStride)) {
    type.stride = stride->operands.empty() ? 0 : stride->operands[0];
    if (type.stride == 0 || type.stride % element.alignment != 0) {
      fail_malformed(instruction, "ArrayStride is no multiple of the element's alignment");
    }
  }
  if (element.kind == TypeKind::runtime_array || type.stride == 0) {
    fail_malformed(instruction, "an array of elements without a size");
  }
  if (instruction.opcode == spv::Op::OpTypeRuntimeArray) {
    type.kind = TypeKind::runtime_array;
    return;
  }
  type.kind = TypeKind::array;
  const Instruction* length = module_.global(instruction.operand(1));
  const std::uint64_t count = length == nullptr ? 0 : constant_literal(*length);
  if (count == 0 || count > kMaxTypeBytes) {
    fail_malformed(instruction, "its length is not between 1 and 2^31");
  }
  type.count = static_cast<std::uint32_t>(count);
  type.size = type.stride * count;
  check_size(instruction, type.size);
  type.scalars = element.scalars * count;
  if (element.value != nullptr) {
    type.value = llvm::ArrayType::get(element.value, count);
  }
}

MatrixLayout TypeTable::member_matrix(const Instruction& instruction, std::uint32_t index,
                                      const Type& member) const {
  const Type& matrix = innermost(member);
  const Decoration* stride =
      module_.member_decoration(instruction.result, index, spv::Decoration::MatrixStride);
  if (matrix.kind != TypeKind::matrix || stride == nullptr || stride->operands.empty()) {
    return {};
  }
  const MatrixLayout layout{.stride = stride->operands[0],
                            .is_row_major = module_.member_decoration(instruction.result, index,
                                                                      spv::Decoration::RowMajor) != nullptr};
  if (layout.stride == 0 || layout.stride % matrix.alignment != 0 || layout.stride > kMaxTypeBytes / 4) {
    fail_malformed(instruction, "MatrixStride is no multiple of the scalar's size");
  }
  return layout;
}

void TypeTable::read_member(const Instruction& instruction, std::uint32_t index, bool is_explicit,
                            Type& type) {
  Member member;
  member.type = &part(instruction, instruction.operands[index], type);
  member.offset = round_up(type.size, member.type->alignment);
  if (is_explicit) {
    const Decoration* offset = module_.member_decoration(instruction.result, index, spv::Decoration::Offset);
    if (offset == nullptr || offset->operands.empty() || offset->operands[0] % member.type->alignment != 0) {
      fail_malformed(instruction, "member " + std::to_string(index) + " has no Offset, or a misaligned one");
    }
    member.offset = offset->operands[0];
  }
  member.matrix = member_matrix(instruction, index, *member.type);
  type.alignment = std::max(type.alignment, member.type->alignment);
  type.size = std::max(type.size, member.offset + member_size(*member.type, member.matrix));
  check_size(instruction, type.size);
  type.scalars += member.type->scalars;
  type.members.push_back(member);
}

void TypeTable::read_structure(const Instruction& instruction, Type& type) {
  type.kind = TypeKind::structure;
  type.scalars = 0;
  const std::size_t count = instruction.operands.size();
  if (count > kMaxMembers) {
    fail_malformed(instruction, "more members than the specification allows");
  }
  const bool is_explicit =
      module_.member_decoration(instruction.result, 0, spv::Decoration::Offset) != nullptr;
  std::vector<llvm::Type*> values;
  bool has_value = true;
  for (std::uint32_t index = 0; index < count; ++index) {
    read_member(instruction, index, is_explicit, type);
    values.push_back(type.members.back().type->value);
    has_value = has_value && values.back() != nullptr;
  }
  if (!is_explicit) {
    type.size = round_up(type.size, type.alignment);
  }
  if (has_value) {
    type.value = llvm::StructType::get(context_, values);
  } else if (type.members.back().type->kind != TypeKind::runtime_array) {
    fail_unsupported(instruction, "an array without a length that is not the last member of a block");
  }
}

void TypeTable::read_pointer(const Instruction& instruction, Type& type) {
  type.kind = TypeKind::pointer;
  type.storage = static_cast<spv::StorageClass>(instruction.operand(0));
  if (type.storage == spv::StorageClass::PhysicalStorageBuffer) {
    fail_unsupported(instruction, "physical storage buffers are not supported");
  }
  type.element = &get(instruction.operand(1), instruction);
  type.value = llvm::PointerType::get(context_, 0);
  type.size = 8;
  type.alignment = 8;
}

void TypeTable::read_function(const Instruction& instruction, Type& type) {
  type.kind = TypeKind::function;
  type.element = &get(instruction.operand(0), instruction);
  for (const Id parameter : instruction.operands.subspan(1)) {
    const Type& each = get(parameter, instruction);
    if (each.value == nullptr || each.kind == TypeKind::nothing) {
      fail_malformed(instruction, "a parameter of a type without values");
    }
    type.parameters.push_back(&each);
  }
}

}  // namespace backplane::translator
