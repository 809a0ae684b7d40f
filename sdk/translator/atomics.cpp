#include <cstdint>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "failure.h"
#include "function.h"

// Atomics and memory barriers. Every scope is treated as the whole device: stronger than asked for is right,
// too.

namespace backplane::translator {

llvm::AtomicOrdering FunctionTranslator::ordering(Id semantics, const Instruction& user) const {
  const std::uint64_t bits = literal(semantics, user);
  const auto has = [bits](spv::MemorySemanticsMask mask) {
    return (bits & static_cast<std::uint32_t>(mask)) != 0;
  };
  if (has(spv::MemorySemanticsMask::SequentiallyConsistent)) {
    return llvm::AtomicOrdering::SequentiallyConsistent;
  }
  const bool acquires = has(spv::MemorySemanticsMask::Acquire);
  const bool releases = has(spv::MemorySemanticsMask::Release);
  if (has(spv::MemorySemanticsMask::AcquireRelease) || (acquires && releases)) {
    return llvm::AtomicOrdering::AcquireRelease;
  }
  return acquires   ? llvm::AtomicOrdering::Acquire
         : releases ? llvm::AtomicOrdering::Release
                    : llvm::AtomicOrdering::Monotonic;
}

Pointer FunctionTranslator::atomic_pointer(const Instruction& instruction) const {
  const Pointer at = pointer(instruction.operand(0), instruction);
  const bool is_integer = at.type->kind == TypeKind::integer && at.type->width >= 32;
  const bool is_float = at.type->kind == TypeKind::floating && at.type->width >= 32;
  if (!is_integer && !is_float) {
    fail_unsupported(instruction, "an atomic operation on that type");
  }
  const bool is_read = instruction.opcode == spv::Op::OpAtomicLoad;
  if (at.storage == spv::StorageClass::PushConstant || at.storage == spv::StorageClass::Input ||
      (!is_read && at.root != nullptr && at.root->is_read_only)) {
    fail_malformed(instruction, "an atomic operation on what may only be read");
  }
  return at;
}

void FunctionTranslator::read_modify_write(const Instruction& instruction,
                                           llvm::AtomicRMWInst::BinOp operation, llvm::Value* value) {
  const Pointer at = atomic_pointer(instruction);
  const bool is_float = llvm::AtomicRMWInst::isFPOperation(operation);
  const bool is_exchange = operation == llvm::AtomicRMWInst::Xchg;
  if (value->getType() != at.type->value ||
      (!is_exchange && is_float != (at.type->kind == TypeKind::floating))) {
    fail_malformed(instruction, "its value does not fit what the pointer points to");
  }
  set(instruction, builder_.CreateAtomicRMW(operation, at.address, value, llvm::Align(at.type->alignment),
                                            ordering(instruction.operand(2), instruction)));
}

void FunctionTranslator::compare_exchange(const Instruction& instruction) {
  const Pointer at = atomic_pointer(instruction);
  if (at.type->kind != TypeKind::integer) {
    fail_unsupported(instruction, "a compare and exchange of what is no integer");
  }
  llvm::Value* desired = operand_of(instruction, 4, at.type->value);
  llvm::Value* expected = operand_of(instruction, 5, at.type->value);
  const llvm::AtomicOrdering success = ordering(instruction.operand(2), instruction);
  llvm::AtomicOrdering failure = ordering(instruction.operand(3), instruction);
  if (failure == llvm::AtomicOrdering::Release) {
    failure = llvm::AtomicOrdering::Monotonic;
  } else if (failure == llvm::AtomicOrdering::AcquireRelease) {
    failure = llvm::AtomicOrdering::Acquire;
  }
  llvm::Value* pair = builder_.CreateAtomicCmpXchg(at.address, expected, desired,
                                                   llvm::Align(at.type->alignment), success, failure);
  set(instruction, builder_.CreateExtractValue(pair, 0));
}

bool FunctionTranslator::translate_atomic(const Instruction& instruction) {
  using enum spv::Op;
  using Operation = llvm::AtomicRMWInst;
  const auto modify = [&](llvm::AtomicRMWInst::BinOp operation) {
    read_modify_write(instruction, operation, operand(instruction, 3));
    return true;
  };
  const auto step = [&](llvm::AtomicRMWInst::BinOp operation) {
    const Type& wanted = type(instruction);
    if (wanted.kind != TypeKind::integer) {
      fail_malformed(instruction, "its result is not an integer");
    }
    read_modify_write(instruction, operation, llvm::ConstantInt::get(wanted.value, 1));
    return true;
  };
  switch (instruction.opcode) {
    case OpMemoryBarrier: {
      const llvm::AtomicOrdering order = ordering(instruction.operand(1), instruction);
      if (order != llvm::AtomicOrdering::Monotonic) {
        builder_.CreateFence(order);
      }
      return true;
    }
    case OpAtomicLoad: {
      const Pointer at = atomic_pointer(instruction);
      llvm::LoadInst* loaded =
          builder_.CreateAlignedLoad(at.type->value, at.address, llvm::Align(at.type->alignment));
      const llvm::AtomicOrdering order = ordering(instruction.operand(2), instruction);
      loaded->setAtomic(llvm::isReleaseOrStronger(order) ? llvm::AtomicOrdering::SequentiallyConsistent
                                                         : order);
      set(instruction, loaded);
      return true;
    }
    case OpAtomicStore: {
      const Pointer at = atomic_pointer(instruction);
      llvm::StoreInst* stored = builder_.CreateAlignedStore(operand_of(instruction, 3, at.type->value),
                                                            at.address, llvm::Align(at.type->alignment));
      const llvm::AtomicOrdering order = ordering(instruction.operand(2), instruction);
      stored->setAtomic(llvm::isAcquireOrStronger(order) ? llvm::AtomicOrdering::SequentiallyConsistent
                                                         : order);
      return true;
    }
    case OpAtomicCompareExchange:
      compare_exchange(instruction);
      return true;
    case OpAtomicExchange:
      return modify(Operation::Xchg);
    case OpAtomicIAdd:
      return modify(Operation::Add);
    case OpAtomicISub:
      return modify(Operation::Sub);
    case OpAtomicSMin:
      return modify(Operation::Min);
    case OpAtomicUMin:
      return modify(Operation::UMin);
    case OpAtomicSMax:
      return modify(Operation::Max);
    case OpAtomicUMax:
      return modify(Operation::UMax);
    case OpAtomicAnd:
      return modify(Operation::And);
    case OpAtomicOr:
      return modify(Operation::Or);
    case OpAtomicXor:
      return modify(Operation::Xor);
    case OpAtomicFAddEXT:
      return modify(Operation::FAdd);
    case OpAtomicFMinEXT:
      return modify(Operation::FMin);
    case OpAtomicFMaxEXT:
      return modify(Operation::FMax);
    case OpAtomicIIncrement:
      return step(Operation::Add);
    case OpAtomicIDecrement:
      return step(Operation::Sub);
    default:
      return false;
  }
}

}  // namespace backplane::translator
