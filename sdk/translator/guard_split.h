#pragma once

#include <llvm/IR/PassManager.h>

namespace backplane::translator {

/// Gives each parallel loop a copy for the case that its bounds checks, such as "if (id < n)", turn out the
/// same way for every iteration: one comparison before the loop then stands for a mask on every access within
/// it.
class GuardSplitPass : public llvm::PassInfoMixin<GuardSplitPass> {
 public:
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace backplane::translator
