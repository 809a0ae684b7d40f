#include "aliasing.h"

#include <cstddef>
#include <vector>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace backplane::translator {
namespace {

// Far deeper than any chain of addresses, and still a bound.
constexpr unsigned kMaxLookup = 4096;

const llvm::Value* address_of(const llvm::Instruction& instruction) {
  if (const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction)) {
    return address;
  }
  if (const auto* modify = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    return modify->getPointerOperand();
  }
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return exchange->getPointerOperand();
  }
  return nullptr;
}

const MemoryRoot* root_of(const llvm::Instruction& instruction, const std::vector<MemoryRoot>& roots) {
  const llvm::Value* address = address_of(instruction);
  if (address == nullptr) {
    return nullptr;
  }
  const llvm::Value* object = llvm::getUnderlyingObject(address, kMaxLookup);
  for (const MemoryRoot& root : roots) {
    if (object == llvm::getUnderlyingObject(root.address, kMaxLookup)) {
      return &root;
    }
  }
  return nullptr;
}

/// Takes the lock out of atomics on memory that no other thread sees.
bool lower_atomic(llvm::Instruction& instruction) {
  if (auto* modify = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    return llvm::lowerAtomicRMWInst(modify);
  }
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return llvm::lowerAtomicCmpXchgInst(exchange);
  }
  return false;
}

}  // namespace

void annotate_accesses(llvm::Function& function, const std::vector<MemoryRoot>& roots,
                       llvm::MDNode* access_group) {
  llvm::LLVMContext& context = function.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::vector<llvm::MDNode*> scopes;
  scopes.reserve(roots.size());
  for (std::size_t index = 0; index < roots.size(); ++index) {
    scopes.push_back(metadata.createAnonymousAliasScope(domain));
  }
  std::vector<llvm::Instruction*> serial_atomics;
  for (llvm::Instruction& each : llvm::instructions(function)) {
    const MemoryRoot* root = root_of(each, roots);
    if (root == nullptr) {
      continue;
    }
    if (each.isAtomic() && root->is_serial) {
      serial_atomics.push_back(&each);
      continue;
    }
    const auto own = static_cast<std::size_t>(root - roots.data());
    std::vector<llvm::Metadata*> others;
    for (std::size_t index = 0; index < roots.size(); ++index) {
      if (index != own && (root->is_separate || roots[index].is_separate)) {
        others.push_back(scopes[index]);
      }
    }
    each.setMetadata(llvm::LLVMContext::MD_alias_scope, llvm::MDNode::get(context, {scopes[own]}));
    if (!others.empty()) {
      each.setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context, others));
    }
    if (!each.isAtomic()) {
      each.setMetadata(llvm::LLVMContext::MD_access_group, access_group);
    }
  }
  for (llvm::Instruction* each : serial_atomics) {
    lower_atomic(*each);
  }
}

std::vector<bool> written_arguments(const llvm::Function& function) {
  std::vector<bool> written(function.arg_size(), false);
  const auto mark = [&](const llvm::Value* address) {
    const llvm::Value* object = llvm::getUnderlyingObject(address, kMaxLookup);
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(object)) {
      written[argument->getArgNo()] = true;
    } else if (!llvm::isa<llvm::AllocaInst>(object)) {
      written.assign(written.size(), true);
    }
  };
  for (const llvm::Instruction& each : llvm::instructions(function)) {
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&each)) {
      for (const llvm::Value* argument : call->args()) {
        if (!call->doesNotAccessMemory() && argument->getType()->isPointerTy() &&
            !llvm::isa<llvm::GlobalValue>(argument)) {
          mark(argument);
        }
      }
    } else if (each.mayWriteToMemory() && address_of(each) != nullptr) {
      mark(address_of(each));
    }
  }
  return written;
}

}  // namespace backplane::translator
