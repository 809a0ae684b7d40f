#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include <backplane/kernel.h>

#include "compile/compile_path.h"
#include "instruction_count.h"
#include "table.h"

namespace backplane::bench {
namespace {

/// Makes an artifact of nothing, at once.
class InstantCompiler final : public ICompiler {
 public:
  [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return forms_; }
  std::string fingerprint() override { return {}; }
  Result<std::vector<std::byte>> lower(const KernelDefinition& /*kernel*/) override {
    return std::vector<std::byte>();
  }
  Result<Artifact> finalize(const KernelDefinition& /*kernel*/,
                            std::span<const std::byte> /*lowered*/) override {
    return Artifact();
  }

 private:
  std::array<KernelForm, 1> forms_{KernelForm::cpu_function};
};

std::vector<Row> kernel_lookup() {
  constexpr double kMost = 30;
  InstantCompiler compiler;
  CompilePath path(compiler);
  const Kernel kernel = Kernel::from_function("lookup", [](const CpuWorkgroup&) {}, {}).value();
  if (!path.obtain(kernel.record())) throw std::runtime_error("the kernel does not compile");
  const CompiledKernel* found = nullptr;
  const auto instructions =
      static_cast<double>(count_instructions([&] { found = path.find(*kernel.record()); }));
  return {{.id = "11",
           .what = "kernel lookup at a launch",
           .unit = "instr",
           .figure = instructions,
           .baseline_name = "limit",
           .baseline = kMost,
           .ratio = instructions / kMost,
           .budget = 1}};
}

const Registration kKernelLookup("11", "kernel lookup at a launch", kernel_lookup);

}  // namespace
}  // namespace backplane::bench
