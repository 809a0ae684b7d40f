#include "guard_split.h"

#include <cstddef>
#include <optional>
#include <vector>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

namespace backplane::translator {
namespace {

// More checks than a stencil in two dimensions has are no longer likely to hold together.
constexpr std::size_t kMaxGuards = 8;
// A copy doubles the code, which pays off for small bodies.
constexpr std::size_t kMaxInstructions = 1000;

/// A comparison in a loop that comes out as `outcome` in every iteration if it does so for `deciding`.
struct Guard {
  llvm::ICmpInst* comparison;
  llvm::CmpInst::Predicate predicate;
  const llvm::SCEV* deciding;
  llvm::Value* bound;
  bool outcome;
};

bool is_upper_bound(llvm::CmpInst::Predicate predicate) {
  return llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate);
}

std::optional<Guard> guard_of(llvm::ICmpInst& comparison, const llvm::Loop& loop,
                              llvm::ScalarEvolution& evolution) {
  llvm::CmpInst::Predicate predicate = comparison.getPredicate();
  llvm::Value* id = comparison.getOperand(0);
  llvm::Value* bound = comparison.getOperand(1);
  if (loop.isLoopInvariant(id)) {
    std::swap(id, bound);
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  }
  if (!llvm::ICmpInst::isRelational(predicate) || !id->getType()->isIntegerTy() ||
      !loop.isLoopInvariant(bound)) {
    return std::nullopt;
  }
  const auto* recurrence = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(id));
  if (recurrence == nullptr || recurrence->getLoop() != &loop || !recurrence->isAffine() ||
      !evolution.isKnownPositive(recurrence->getStepRecurrence(evolution))) {
    return std::nullopt;
  }
  const bool is_monotonic =
      llvm::CmpInst::isSigned(predicate) ? recurrence->hasNoSignedWrap() : recurrence->hasNoUnsignedWrap();
  if (!is_monotonic) {
    return std::nullopt;
  }
  bool outcome = true;
  bool decided_by_last = is_upper_bound(predicate);
  if (!decided_by_last && !llvm::isa<llvm::Constant>(bound)) {
    // "if (id >= n) return" is an upper bound, too; "if (id > 0)" is a lower one.
    predicate = llvm::CmpInst::getInversePredicate(predicate);
    outcome = false;
    decided_by_last = true;
  }
  const llvm::SCEV* trips = evolution.getBackedgeTakenCount(&loop);
  const llvm::SCEV* deciding = decided_by_last
                                   ? recurrence->evaluateAtIteration(
                                         evolution.getTruncateOrZeroExtend(trips, id->getType()), evolution)
                                   : recurrence->getStart();
  return Guard{.comparison = &comparison,
               .predicate = predicate,
               .deciding = deciding,
               .bound = bound,
               .outcome = outcome};
}

std::vector<Guard> guards_in(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  std::vector<Guard> guards;
  std::size_t instructions = 0;
  const llvm::Value* latch_condition = nullptr;
  if (const auto* latch = llvm::dyn_cast<llvm::BranchInst>(loop.getLoopLatch()->getTerminator());
      latch != nullptr && latch->isConditional()) {
    latch_condition = latch->getCondition();
  }
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& each : *block) {
      ++instructions;
      auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&each);
      if (comparison == nullptr || comparison == latch_condition) {
        continue;
      }
      if (std::optional<Guard> guard = guard_of(*comparison, loop, evolution)) {
        guards.push_back(*guard);
      }
    }
  }
  return guards.size() > kMaxGuards || instructions > kMaxInstructions ? std::vector<Guard>{} : guards;
}

bool can_copy(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  return loop.isInnermost() && loop.isLoopSimplifyForm() && loop.isAnnotatedParallel() &&
         loop.getExitingBlock() == loop.getLoopLatch() && loop.getExitBlock() != nullptr &&
         // Invocations leave their results in memory, so nothing needs to be joined behind the copies.
         loop.getExitBlock()->phis().empty() &&
         !llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop));
}

bool split(llvm::Loop& loop, llvm::ScalarEvolution& evolution, llvm::LoopInfo& loops,
           llvm::DominatorTree& dominators) {
  const std::vector<Guard> guards = guards_in(loop, evolution);
  llvm::BasicBlock* check = loop.getLoopPreheader();
  llvm::SCEVExpander expander(evolution, check->getDataLayout(), "guard");
  for (const Guard& each : guards) {
    if (!expander.isSafeToExpandAt(each.deciding, check->getTerminator())) {
      return false;
    }
  }
  if (guards.empty()) {
    return false;
  }
  llvm::IRBuilder<> builder(check->getTerminator());
  llvm::Value* all = builder.getTrue();
  for (const Guard& each : guards) {
    llvm::Value* deciding =
        expander.expandCodeFor(each.deciding, each.bound->getType(), check->getTerminator());
    builder.SetInsertPoint(check->getTerminator());
    all = builder.CreateAnd(all, builder.CreateICmp(each.predicate, deciding, each.bound));
  }
  // The bound may be undefined memory's; a branch on it must still go one way or the other.
  all = builder.CreateFreeze(all);
  llvm::BasicBlock* guarded = llvm::SplitBlock(check, check->getTerminator(), &dominators, &loops);
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks;
  llvm::cloneLoopWithPreheader(guarded, check, &loop, copies, ".all", &loops, &dominators, blocks);
  llvm::remapInstructionsInBlocks(blocks, copies);
  llvm::Instruction* old = check->getTerminator();
  builder.SetInsertPoint(old);
  builder.CreateCondBr(all, llvm::cast<llvm::BasicBlock>(copies[guarded]), guarded);
  old->eraseFromParent();
  dominators.changeImmediateDominator(loop.getExitBlock(), check);
  for (const Guard& each : guards) {
    auto* copy = llvm::cast<llvm::Instruction>(copies[each.comparison]);
    copy->replaceAllUsesWith(each.outcome ? builder.getTrue() : builder.getFalse());
  }
  return true;
}

}  // namespace

llvm::PreservedAnalyses GuardSplitPass::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::ScalarEvolution& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  llvm::DominatorTree& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool is_changed = false;
  const llvm::SmallVector<llvm::Loop*, 4> all = loops.getLoopsInPreorder();
  for (llvm::Loop* loop : all) {
    is_changed = (can_copy(*loop, evolution) && split(*loop, evolution, loops, dominators)) || is_changed;
  }
  return is_changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace backplane::translator
