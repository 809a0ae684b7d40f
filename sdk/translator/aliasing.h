#pragma once

#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Value.h>

namespace backplane::translator {

/// A region of memory that the function reaches through one address, loaded before any loop.
struct MemoryRoot {
  llvm::Value* address = nullptr;
  bool is_separate = false;  ///< Whether it overlaps no other root.
  bool is_serial = false;    ///< Whether one thread alone reaches it, so that atomics may be plain accesses.
};

/// Says of every access in `function` which roots it cannot touch, and puts those of the roots into
/// `access_group`, whose loop then runs its iterations in any order or together. Accesses to private memory
/// stay out of it: iterations share their variables until those are in registers. Calls must have been
/// inlined.
void annotate_accesses(llvm::Function& function, const std::vector<MemoryRoot>& roots,
                       llvm::MDNode* access_group);

/// For every argument of `function`, whether something may be written through it.
std::vector<bool> written_arguments(const llvm::Function& function);

}  // namespace backplane::translator
