#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <backplane/toolkit.h>

namespace backplane::cpu {

/// Turns kernels into relocatable objects for this machine, through the host's translator. Any thread,
/// several at once.
class Compiler final : public ICompiler {
 public:
  explicit Compiler(IHost& host) : host_(host) {}

  [[nodiscard]] std::span<const KernelForm> forms() const noexcept override { return kForms; }
  std::string fingerprint() override;
  Result<std::vector<std::byte>> lower(const KernelDefinition& kernel) override;
  Result<Artifact> finalize(const KernelDefinition& kernel, std::span<const std::byte> lowered) override;
  std::string source_text(const KernelDefinition& kernel, std::span<const std::byte> lowered) override;

 private:
  static constexpr std::array kForms{KernelForm::cpu_function, KernelForm::spirv};

  IHost& host_;
};

/// An artifact linked into this process, or a native function; gone when destroyed. One thread, the server's;
/// what it points to may be run by any.
class Module {
 public:
  /// Loads what the compiler made of a kernel. Errors: `launch_compilation`.
  static Result<std::unique_ptr<Module>> load(IHost& host, const KernelRef& kernel);

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  ~Module();

  /// Null for a native function.
  [[nodiscard]] HostKernel translated() const noexcept { return info_.function; }
  [[nodiscard]] std::uint64_t workgroup_memory_bytes() const noexcept { return info_.workgroup_memory_bytes; }

 private:
  Module() = default;

  const TranslatorApi* translator_ = nullptr;
  void* handle_ = nullptr;
  HostKernelInfo info_{};
};

}  // namespace backplane::cpu
