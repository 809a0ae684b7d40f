#pragma once

#include <llvm/IR/Module.h>

namespace backplane::translator {

/// Inlines what is marked for it and drops local functions that nothing calls any more.
void inline_calls(llvm::Module& module);

/// Throws `Failure` where LLVM would not accept the module.
void verify(const llvm::Module& module);

}  // namespace backplane::translator
