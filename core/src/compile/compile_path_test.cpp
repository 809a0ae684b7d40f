#include "compile/compile_path.h"

#include <array>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/kernel.h>

namespace backplane {
namespace {

using ::testing::HasSubstr;

void do_nothing(const CpuWorkgroup& /*workgroup*/) {}

/// Compiles by handing the label's first letter through, and does as it is told by the rest.
class FakeCompiler final : public ICompiler {
 public:
  [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return forms_; }
  std::string fingerprint() override { return "fake"; }
  Result<std::vector<std::byte>> lower(const KernelDefinition& kernel) override {
    ++lowered;
    if (kernel.label.ends_with("throw")) throw std::runtime_error("the front end fell over");
    if (kernel.label.ends_with("fail") && failing) return Error(ErrorCode::compilation, "No such luck.");
    if (before_finish != nullptr) before_finish->arrive_and_wait();
    return std::vector<std::byte>{static_cast<std::byte>(kernel.label.front())};
  }
  Result<Artifact> finalize(const KernelDefinition& /*kernel*/, std::span<const std::byte> code) override {
    ++finalized;
    return Artifact{{code.begin(), code.end()}};
  }

  std::atomic<int> lowered = 0;
  std::atomic<int> finalized = 0;
  std::atomic<bool> failing = true;
  std::latch* before_finish = nullptr;

 private:
  std::array<KernelForm, 1> forms_{KernelForm::cpu_function};
};

std::shared_ptr<const KernelRecord> record(const std::string& label) {
  return Kernel::from_function(label, do_nothing, {}).value().record();
}

TEST(CompilePath, CompilesOnceAndThenFinds) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  const auto kernel = record("a");
  EXPECT_EQ(path.find(*kernel), nullptr);
  const CompiledKernel* compiled = path.obtain(kernel).value();
  EXPECT_EQ(path.find(*kernel), compiled);
  EXPECT_EQ(path.obtain(kernel).value(), compiled);
  EXPECT_EQ(compiler.lowered, 1);
  EXPECT_EQ(compiled->ref().artifact->code.size(), 1U);
}

TEST(CompilePath, IndicesAreDenseByDevice) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  record("unused");
  EXPECT_EQ(path.obtain(record("b")).value()->index, 0U);
  EXPECT_EQ(path.obtain(record("c")).value()->index, 1U);
}

TEST(CompilePath, KernelsThatLowerAlikeShareAnArtifact) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  const CompiledKernel* first = path.obtain(record("same1")).value();
  const CompiledKernel* second = path.obtain(record("same2")).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(first->artifact, second->artifact);
  EXPECT_EQ(compiler.finalized, 1);
  EXPECT_EQ(path.statistics().rekeyed, 1U);
}

TEST(CompilePath, AFailureIsTriedAgainByTheNextLaunch) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  const auto kernel = record("fail");
  const auto refused = path.obtain(kernel);
  EXPECT_EQ(refused.error().code(), ErrorCode::launch_compilation);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("Kernel \"fail\" does not compile: No such luck."));
  compiler.failing = false;
  EXPECT_TRUE(path.obtain(kernel));
  EXPECT_EQ(path.statistics().failed, 1U);
}

TEST(CompilePath, AnExceptionOfTheCompilerIsAFailureLikeAnyOther) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  EXPECT_THAT(path.obtain(record("throw")).error().to_string(), HasSubstr("the front end fell over"));
}

TEST(CompilePath, AKernelWithoutAFormTheBackendTakesIsRefused) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  const std::array<std::byte, 1> code{};
  const Kernel ptx = Kernel::from_native("gemm", KernelForm::ptx, code, {}).value();
  EXPECT_THAT(path.obtain(ptx.record()).error().to_string(), HasSubstr("forms"));
}

TEST(CompilePath, DifferentKernelsCompileAtTheSameTime) {
  FakeCompiler compiler;
  std::latch both(2);  // neither compile ends before the other has begun
  compiler.before_finish = &both;
  CompilePath path(compiler);
  std::thread other([&path] { EXPECT_TRUE(path.obtain(record("x"))); });
  EXPECT_TRUE(path.obtain(record("y")));
  other.join();
}

TEST(CompilePath, ManyThreadsWantingOneKernelCompileItOnce) {
  FakeCompiler compiler;
  CompilePath path(compiler);
  const auto kernel = record("shared");
  std::latch start(8);
  std::vector<std::thread> threads;
  std::array<const CompiledKernel*, 8> found{};
  for (const CompiledKernel*& slot : found) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      slot = path.obtain(kernel).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(found, ::testing::Each(found[0]));
  EXPECT_EQ(compiler.lowered, 1);
}

}  // namespace
}  // namespace backplane
