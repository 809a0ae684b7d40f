#include "translation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/DerivedTypes.h>

#include "failure.h"
#include "function.h"
#include "names.h"

namespace backplane::translator {
namespace {

// Calls are inlined, since vectors of invocations do not cross them. Past this many instructions a function
// stays a call, or a few functions that call each other twice would grow without bound.
constexpr std::uint64_t kMaxInlinedInstructions = 50'000;
constexpr std::uint32_t kMaxCallDepth = 256;
// What one invocation may keep on the worker's stack.
constexpr std::uint64_t kMaxPrivateBytes = 256ULL * 1024;
constexpr std::uint32_t kMaxBinding = 1023;
constexpr std::uint64_t kMaxWorkgroupSize = 65'536;

}  // namespace

Translation::Translation(const Module& module, llvm::Module& output)
    : module_(module), output_(output), types_(module, output.getContext()) {
  make_constants();
  const Function& entry = module_.entry_point();
  measure(entry.definition.result, entry.definition, 0);
  collect_interface(order_);
  for (const Id id : order_) {
    declare(id, costs_.at(id));
  }
  for (const Id id : order_) {
    FunctionTranslator(*this, module_.function(id, entry.definition), functions_.at(id)).translate();
  }
}

llvm::Function* Translation::invocation() const {
  return functions_.at(module_.entry_point().definition.result);
}

llvm::Function* Translation::function(Id id, const Instruction& user) const {
  const auto found = functions_.find(id);
  if (found == functions_.end()) {
    fail_malformed(user, "%" + std::to_string(id) + " is not a function");
  }
  return found->second;
}

llvm::Constant* Translation::constant(Id id) const {
  const auto found = constants_.find(id);
  return found == constants_.end() ? nullptr : found->second;
}

std::uint64_t Translation::integer_constant(Id id, const Instruction& user) const {
  const auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant(id));
  if (value == nullptr) {
    fail_malformed(user, "%" + std::to_string(id) + " is not an integer constant");
  }
  return value->getZExtValue();
}

std::array<std::uint32_t, 3> Translation::workgroup_size() const {
  const Instruction& entry = module_.entry_point().definition;
  std::array<std::uint64_t, 3> size{};
  if (const Id id = module_.builtin_constant(spv::BuiltIn::WorkgroupSize); id != 0) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      const llvm::Constant* whole = constant(id);
      const auto* value = llvm::dyn_cast_or_null<llvm::ConstantInt>(
          whole == nullptr ? nullptr : whole->getAggregateElement(axis));
      size[axis] = value == nullptr ? 0 : value->getZExtValue();
    }
  } else if (const auto* literal = module_.execution_mode(spv::ExecutionMode::LocalSize);
             literal != nullptr && literal->size() >= 3) {
    std::copy_n(literal->begin(), 3, size.begin());
  } else if (const auto* ids = module_.execution_mode(spv::ExecutionMode::LocalSizeId);
             ids != nullptr && ids->size() >= 3) {
    std::ranges::transform(std::span(*ids).first(3), size.begin(),
                           [&](Id each) { return integer_constant(each, entry); });
  }
  const bool is_empty = std::ranges::count(size, std::uint64_t{0}) != 0;
  if (is_empty || *std::ranges::max_element(size) > kMaxWorkgroupSize ||
      size[0] * size[1] * size[2] > kMaxWorkgroupSize) {
    fail_unsupported("a workgroup has 1 to " + std::to_string(kMaxWorkgroupSize) + " invocations, not " +
                     std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " +
                     std::to_string(size[2]));
  }
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

const Translation::Cost& Translation::measure(Id id, const Instruction& user, std::uint32_t depth) {
  const Function& function = module_.function(id, user);
  const auto [position, is_new] = costs_.try_emplace(id);
  Cost& cost = position->second;  // Stays valid: a map's elements do not move.
  if (!is_new) {
    if (!cost.is_complete) {
      fail_unsupported(user, "recursion is not supported");
    }
    return cost;
  }
  if (depth > kMaxCallDepth) {
    fail_unsupported(user, "calls nested more than " + std::to_string(kMaxCallDepth) + " deep");
  }
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      ++cost.instructions;
      if (each.opcode == spv::Op::OpVariable) {
        const Type& pointer = types_.get(each.type, each);
        cost.private_bytes += pointer.element == nullptr ? 0 : pointer.element->size;
      } else if (each.opcode == spv::Op::OpFunctionCall) {
        const Cost& callee = measure(each.operand(0), each, depth + 1);
        cost.instructions = std::min(cost.instructions + callee.instructions, kMaxInlinedInstructions + 1);
        cost.private_bytes += callee.private_bytes;
      }
      if (cost.private_bytes > kMaxPrivateBytes) {
        fail_unsupported(each, "an invocation needs more than " + std::to_string(kMaxPrivateBytes) +
                                   " bytes of private memory");
      }
    }
  }
  cost.is_complete = true;
  order_.push_back(id);
  return cost;
}

llvm::FunctionType* Translation::function_type(const Function& function) const {
  std::vector<llvm::Type*> parameters;
  llvm::LLVMContext& context = output_.getContext();
  for (const InterfaceVariable& variable : interface_) {
    parameters.push_back(llvm::PointerType::get(context, 0));
    if (variable.is_buffer()) {
      parameters.push_back(llvm::Type::getInt64Ty(context));
    }
  }
  const Type& type = types_.get(function.definition.operand(1), function.definition);
  if (type.kind != TypeKind::function || type.parameters.size() != function.parameters.size()) {
    fail_malformed(function.definition, "its type does not fit its parameters");
  }
  for (std::size_t index = 0; index < type.parameters.size(); ++index) {
    if (&types_.get(function.parameters[index].type, function.parameters[index]) != type.parameters[index]) {
      fail_malformed(function.parameters[index], "its type is not the one that the function's type says");
    }
    parameters.push_back(type.parameters[index]->value);
  }
  if (type.element->value == nullptr) {
    fail_malformed(function.definition, "it returns a type without values");
  }
  return llvm::FunctionType::get(type.element->value, parameters, false);
}

void Translation::declare(Id id, const Cost& cost) {
  const Function& function = module_.function(id, module_.entry_point().definition);
  // The entry point's function is kept, though nothing calls it yet: the target makes it local once it does.
  const bool is_entry = id == module_.entry_point().definition.result;
  llvm::Function* made = llvm::Function::Create(
      function_type(function),
      is_entry ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
      is_entry ? "invocation" : "function", output_);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  made->addFnAttr(cost.instructions > kMaxInlinedInstructions ? llvm::Attribute::NoInline
                                                              : llvm::Attribute::AlwaysInline);
  functions_[id] = made;
}

void Translation::collect_interface(const std::vector<Id>& functions) {
  std::unordered_set<Id> used;
  for (const Id id : functions) {
    for (const Block& block : module_.function(id, module_.entry_point().definition).blocks) {
      for (const Instruction& each : block.instructions) {
        used.insert(each.operands.begin(), each.operands.end());
      }
    }
  }
  // A literal that happens to equal a variable's id adds a variable that nothing reads: no harm.
  for (const Instruction& each : module_.globals()) {
    if (each.opcode == spv::Op::OpVariable && used.contains(each.result)) {
      interface_.push_back(make_variable(each));
    }
  }
}

InterfaceVariable Translation::make_variable(const Instruction& definition) const {
  InterfaceVariable variable;
  variable.definition = &definition;
  const Type& pointer = types_.get(definition.type, definition);
  if (pointer.kind != TypeKind::pointer) {
    fail_malformed(definition, "a variable whose type is no pointer");
  }
  variable.type = pointer.element;
  variable.storage = pointer.storage;
  if (definition.operands.size() > 1) {
    variable.initializer = constant(definition.operands[1]);
    if (variable.initializer == nullptr || variable.initializer->getType() != variable.type->value) {
      fail_malformed(definition, "its initializer is not a constant of its type");
    }
  }
  switch (variable.storage) {
    case spv::StorageClass::StorageBuffer:
    case spv::StorageClass::Uniform:
      read_buffer(definition, variable);
      break;
    case spv::StorageClass::Input: {
      const Decoration* builtin = module_.decoration(definition.result, spv::Decoration::BuiltIn);
      if (builtin == nullptr || builtin->operands.empty()) {
        fail_unsupported(definition, "an input that is not built in");
      }
      variable.builtin = static_cast<spv::BuiltIn>(builtin->operands[0]);
      break;
    }
    case spv::StorageClass::PushConstant:
    case spv::StorageClass::Private:
    case spv::StorageClass::Workgroup:
      break;
    default:
      fail_unsupported(definition, "storage class " +
                                       std::to_string(static_cast<std::uint32_t>(variable.storage)) +
                                       " is not supported");
  }
  return variable;
}

void Translation::read_buffer(const Instruction& definition, InterfaceVariable& variable) const {
  const Id id = definition.result;
  if (variable.type->kind != TypeKind::structure) {
    fail_unsupported(definition, "a buffer that is not one block (arrays of buffers are not supported)");
  }
  const Decoration* set = module_.decoration(id, spv::Decoration::DescriptorSet);
  const Decoration* binding = module_.decoration(id, spv::Decoration::Binding);
  if (binding == nullptr || binding->operands.empty() || binding->operands[0] > kMaxBinding ||
      (set != nullptr && !set->operands.empty() && set->operands[0] != 0)) {
    fail_unsupported(definition,
                     "a buffer has set 0 and a binding of at most " + std::to_string(kMaxBinding));
  }
  variable.binding = binding->operands[0];
  variable.is_restrict = module_.decoration(id, spv::Decoration::Restrict) != nullptr;
  variable.is_read_only = module_.decoration(id, spv::Decoration::NonWritable) != nullptr;
}

void Translation::make_constants() {
  for (const Instruction& each : module_.globals()) {
    if (each.opcode == spv::Op::OpVariable || each.type == 0) {
      continue;
    }
    constants_[each.result] = make_constant(each);
  }
}

llvm::Constant* Translation::make_constant(const Instruction& instruction) {
  const Type& type = types_.get(instruction.type, instruction);
  if (type.value == nullptr || type.kind == TypeKind::nothing) {
    fail_malformed(instruction, "a constant of a type without values");
  }
  switch (instruction.opcode) {
    case spv::Op::OpConstantTrue:
    case spv::Op::OpConstantFalse:
      if (type.kind != TypeKind::boolean) {
        fail_malformed(instruction, "its type is not boolean");
      }
      return llvm::ConstantInt::getBool(type.value, instruction.opcode == spv::Op::OpConstantTrue);
    case spv::Op::OpConstant: {
      if (type.kind != TypeKind::integer && type.kind != TypeKind::floating) {
        fail_malformed(instruction, "its type is no number");
      }
      const std::uint64_t literal = constant_literal(instruction);
      const llvm::APInt bits = llvm::APInt(64, literal).trunc(type.width);
      if (type.kind == TypeKind::integer) {
        return llvm::ConstantInt::get(type.value, bits);
      }
      return llvm::ConstantFP::get(type.value, llvm::APFloat(type.value->getFltSemantics(), bits));
    }
    case spv::Op::OpConstantNull:
    case spv::Op::OpUndef:
      // Any value will do for an undefined one; LLVM's own would be a different one at each use.
      return llvm::Constant::getNullValue(type.value);
    case spv::Op::OpConstantComposite:
      return make_composite(instruction, type);
    default:
      fail_unsupported(instruction, "this instruction is not supported outside functions");
  }
}

llvm::Constant* Translation::make_composite(const Instruction& instruction, const Type& type) {
  std::vector<llvm::Constant*> parts;
  for (const Id id : instruction.operands) {
    llvm::Constant* part = constant(id);
    if (part == nullptr) {
      fail_malformed(instruction, "%" + std::to_string(id) + " is not a constant");
    }
    parts.push_back(part);
  }
  const std::size_t count = type.kind == TypeKind::structure ? type.members.size() : type.count;
  if ((type.kind != TypeKind::vector && !type.is_composite()) || parts.size() != count) {
    fail_malformed(instruction, "it has not as many parts as its type");
  }
  for (std::size_t index = 0; index < count; ++index) {
    const Type* wanted = type.kind == TypeKind::structure ? type.members[index].type : type.element;
    if (parts[index]->getType() != wanted->value) {
      fail_malformed(instruction, "part " + std::to_string(index) + " has another type");
    }
  }
  if (type.kind == TypeKind::vector) {
    return llvm::ConstantVector::get(parts);
  }
  if (type.kind == TypeKind::structure) {
    return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(type.value), parts);
  }
  return llvm::ConstantArray::get(llvm::cast<llvm::ArrayType>(type.value), parts);
}

}  // namespace backplane::translator
