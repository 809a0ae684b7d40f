#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "failure.h"
#include "function.h"

// Branches, phis, calls.

namespace backplane::translator {

bool FunctionTranslator::translate_control_flow(const Instruction& instruction) {
  using enum spv::Op;
  switch (instruction.opcode) {
    case OpLoopMerge:
    case OpSelectionMerge:
      return true;
    case OpControlBarrier:
      fail_unsupported(instruction, "barriers are not supported");
    case OpBranch:
      builder_.CreateBr(block(instruction.operand(0), instruction));
      return true;
    case OpBranchConditional:
      branch_conditional(instruction);
      return true;
    case OpSwitch:
      switch_over(instruction);
      return true;
    case OpReturn:
      return_from(nullptr);
      return true;
    case OpReturnValue:
      return_from(operand_of(instruction, 0, output_->getReturnType()));
      return true;
    case OpUnreachable:
      // LLVM may do anything with code that it believes is never run, so it is not told.
      return_from(nullptr);
      return true;
    case OpPhi: {
      const Type& wanted = type(instruction);
      if (wanted.kind == TypeKind::pointer || wanted.value == nullptr || wanted.kind == TypeKind::nothing) {
        fail_unsupported(instruction, "a phi of that type");
      }
      if (builder_.GetInsertBlock()->getFirstNonPHI() != nullptr) {
        fail_malformed(instruction, "it is not at the start of its block");
      }
      llvm::PHINode* phi =
          builder_.CreatePHI(wanted.value, static_cast<unsigned>(instruction.operands.size() / 2));
      phis_.emplace_back(&instruction, phi);
      set(instruction, phi);
      return true;
    }
    case OpFunctionCall:
      call(instruction);
      return true;
    default:
      return false;
  }
}

llvm::BasicBlock* FunctionTranslator::block(Id label, const Instruction& user) const {
  const auto found = blocks_.find(label);
  if (found == blocks_.end()) {
    fail_malformed(user, "%" + std::to_string(label) + " is not a block of this function");
  }
  return found->second;
}

void FunctionTranslator::branch_conditional(const Instruction& instruction) {
  llvm::Value* condition = operand_of(instruction, 0, builder_.getInt1Ty());
  builder_.CreateCondBr(condition, block(instruction.operand(1), instruction),
                        block(instruction.operand(2), instruction));
}

void FunctionTranslator::switch_over(const Instruction& instruction) {
  llvm::Value* selector = operand(instruction, 0);
  if (!selector->getType()->isIntegerTy()) {
    fail_malformed(instruction, "its selector is not an integer");
  }
  const unsigned width = selector->getType()->getIntegerBitWidth();
  const std::size_t literal_words = width > 32 ? 2 : 1;
  const std::span<const std::uint32_t> cases =
      instruction.operands.subspan(std::min<std::size_t>(2, instruction.operands.size()));
  llvm::SwitchInst* made = builder_.CreateSwitch(selector, block(instruction.operand(1), instruction));
  if (cases.size() % (literal_words + 1) != 0) {
    fail_malformed(instruction, "its last case is cut off");
  }
  for (std::size_t at = 0; at < cases.size(); at += literal_words + 1) {
    std::uint64_t literal = cases[at];
    if (literal_words == 2) {
      literal |= std::uint64_t{cases[at + 1]} << 32U;
    }
    auto* value = llvm::ConstantInt::get(builder_.getContext(), llvm::APInt(64, literal).trunc(width));
    if (made->findCaseValue(value) != made->case_default()) {
      fail_malformed(instruction, "it has a case twice");
    }
    made->addCase(value, block(cases[at + literal_words], instruction));
  }
}

void FunctionTranslator::return_from(llvm::Value* result) {
  llvm::Type* wanted = output_->getReturnType();
  if (wanted->isVoidTy()) {
    builder_.CreateRetVoid();
  } else {
    builder_.CreateRet(result != nullptr ? result : zero(wanted));
  }
}

void FunctionTranslator::call(const Instruction& instruction) {
  const Function& called = translation_.module().function(instruction.operand(0), instruction);
  llvm::Function* callee = translation_.function(instruction.operand(0), instruction);
  const std::span<const std::uint32_t> given = instruction.operands.subspan(1);
  if (given.size() != called.parameters.size()) {
    fail_malformed(instruction, "it has not as many arguments as the function has parameters");
  }
  std::vector<llvm::Value*> arguments;
  const std::size_t inherited = callee->arg_size() - called.parameters.size();
  arguments.reserve(callee->arg_size());
  for (unsigned index = 0; index < inherited; ++index) {
    arguments.push_back(output_->getArg(index));
  }
  for (const Id id : given) {
    llvm::Value* argument = value(id, instruction);
    const llvm::Type* wanted =
        callee->getFunctionType()->getParamType(static_cast<unsigned>(arguments.size()));
    const Type& parameter_type =
        translation_.types().get(called.parameters[arguments.size() - inherited].type, instruction);
    if (argument->getType() != wanted) {
      fail_malformed(instruction, "an argument has another type than its parameter");
    }
    if (parameter_type.kind == TypeKind::pointer) {
      const Pointer passed = pointer(id, instruction);
      if (!passed.is_plain() || passed.type != parameter_type.element) {
        fail_unsupported(instruction, "a pointer into a matrix with a layout of its own as an argument");
      }
    }
    arguments.push_back(argument);
  }
  llvm::CallInst* made = builder_.CreateCall(callee, arguments);
  if (!callee->getReturnType()->isVoidTy()) {
    set(instruction, made);
  }
}

void FunctionTranslator::finish_phis() {
  for (const auto& [instruction, phi] : phis_) {
    // A block that branches here twice is one parent in SPIR-V and two in LLVM.
    for (llvm::BasicBlock* parent : llvm::predecessors(phi->getParent())) {
      const auto label = labels_.find(parent);
      llvm::Value* incoming = nullptr;
      for (std::size_t at = 0; at + 1 < instruction->operands.size() && label != labels_.end(); at += 2) {
        if (instruction->operands[at + 1] == label->second) {
          incoming = operand_of(*instruction, at, phi->getType());
        }
      }
      if (incoming == nullptr) {
        fail_malformed(*instruction, "it has no value for one of its parents");
      }
      phi->addIncoming(incoming, parent);
    }
    if (phi->getNumIncomingValues() == 0) {
      phi->replaceAllUsesWith(llvm::PoisonValue::get(phi->getType()));
    }
  }
}

}  // namespace backplane::translator
