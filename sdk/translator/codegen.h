#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <backplane/contract/translator.h>

namespace backplane::translator {

/// Versions of the translator and of LLVM, this machine's processor and features, the vector math library.
const std::string& fingerprint();

/// The target machine that the request asks for. Throws `Failure`.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TranslationRequest& request);

/// Keeps LLVM from printing diagnostics, or ending the process over one: the first error is kept instead.
/// Belongs to one context and lives as long.
class DiagnosticCollector {
 public:
  explicit DiagnosticCollector(llvm::LLVMContext& context);
  /// Throws `Failure` where there was an error.
  void check() const;

 private:
  std::shared_ptr<std::string> error_ = std::make_shared<std::string>();
};

/// Bitcode as a module, verified. Throws `Failure`.
std::unique_ptr<llvm::Module> read_bitcode(std::span<const std::byte> bitcode, llvm::LLVMContext& context);

/// Optimised code for the request's target from bitcode of `lower`. Throws `Failure`.
std::string generate_code(const TranslationRequest& request, std::span<const std::byte> bitcode);

}  // namespace backplane::translator
