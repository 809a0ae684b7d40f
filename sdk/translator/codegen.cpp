#include "codegen.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include "failure.h"
#include "guard_split.h"
#include "host_target.h"
#include "inlining.h"
#include "vector_math.h"

namespace backplane::translator {
namespace {

constexpr const char* kTranslatorVersion = "1";

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::InitializeNativeTargetDisassembler();
  });
}

std::string host_features() {
  std::string text;
  // In the order of names: a hash map's own order is no part of a fingerprint.
  std::vector<std::string> names;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    names.push_back((feature.getValue() ? "+" : "-") + feature.getKey().str());
  }
  std::ranges::sort(names);
  for (const std::string& each : names) {
    text += (text.empty() ? "" : ",") + each;
  }
  return text;
}

bool is_given(const char* text) {
  return text != nullptr && *text != '\0';
}

llvm::OptimizationLevel level_of(std::uint32_t optimization) {
  switch (optimization) {
    case 0:
      return llvm::OptimizationLevel::O0;
    case 1:
      return llvm::OptimizationLevel::O1;
    case 2:
      return llvm::OptimizationLevel::O2;
    default:
      return llvm::OptimizationLevel::O3;
  }
}

/// LLVM holds back from 512 bits, since the first processors that had them slowed down over it. Those with
/// this extension do not, and work from the caches gains.
void prefer_wide_vectors(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() || !machine.getMCSubtargetInfo()->checkFeatures("+avx512vbmi2")) {
    return;
  }
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) {
      function.addFnAttr("prefer-vector-width", "512");
    }
  }
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine, std::uint32_t optimization) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = optimization >= 2;
  tuning.SLPVectorization = optimization >= 2;
  tuning.LoopInterleaving = optimization >= 2;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  add_vector_math(library, machine);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.registerPipelineStartEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
    if (level == llvm::OptimizationLevel::O0) {
      return;
    }
    // The loop vectoriser gives up at the sight of a vector, so kernels on vectors are taken apart first.
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = true;
    llvm::FunctionPassManager early;
    early.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    early.addPass(llvm::InstCombinePass());
    early.addPass(llvm::ScalarizerPass(options));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(early)));
  });
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel level) {
        if (level.getSpeedupLevel() >= 2) {
          passes.addPass(GuardSplitPass());
          passes.addPass(llvm::SimplifyCFGPass());
        }
      });
  const llvm::OptimizationLevel level = level_of(optimization);
  llvm::ModulePassManager passes = level == llvm::OptimizationLevel::O0
                                       ? builder.buildO0DefaultPipeline(level)
                                       : builder.buildPerModuleDefaultPipeline(level);
  passes.run(module, modules);
}

}  // namespace

const std::string& fingerprint() {
  static const std::string text = [] {
    return std::string("translator ") + kTranslatorVersion + "; LLVM " + LLVM_VERSION_STRING + "; " +
           llvm::sys::getHostCPUName().str() + "; " + host_features() + "; " +
           (has_vector_math() ? kVectorMathLibrary : "scalar math");
  }();
  return text;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TranslationRequest& request) {
  if (request.target != TranslationTarget::host) {
    fail_unsupported("the translator does not make code for NVPTX or AMDGPU yet, only for the host");
  }
  initialize_llvm();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    fail_unsupported("LLVM has no code generator for " + triple + ": " + error);
  }
  const bool is_host = !is_given(request.processor);
  const std::string processor = is_host ? llvm::sys::getHostCPUName().str() : request.processor;
  std::string features = is_given(request.features) ? request.features : "";
  if (is_host && features.empty()) {
    features = host_features();
  }
  // Asked first, because a target machine for an unknown processor prints to the standard error.
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (known == nullptr || !known->isCPUStringValid(processor)) {
    fail_unsupported("LLVM does not know the processor \"" + processor + "\"");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, processor, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
      request.optimization == 0 ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive, true));
  if (machine == nullptr) {
    fail_unsupported("LLVM cannot make code for " + triple);
  }
  return machine;
}

DiagnosticCollector::DiagnosticCollector(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* kept) {
        auto& error = *static_cast<std::string*>(kept);
        if (info->getSeverity() == llvm::DS_Error && error.empty()) {
          llvm::raw_string_ostream stream(error);
          llvm::DiagnosticPrinterRawOStream printer(stream);
          info->print(printer);
        }
      },
      error_.get());
}

void DiagnosticCollector::check() const {
  if (!error_->empty()) {
    fail_unsupported("LLVM cannot make code of this kernel: " + *error_);
  }
}

std::unique_ptr<llvm::Module> read_bitcode(std::span<const std::byte> bitcode, llvm::LLVMContext& context) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  llvm::Expected<std::unique_ptr<llvm::Module>> module =
      llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "kernel"), context);
  if (!module) {
    fail_malformed("this is not the translator's bitcode: " + llvm::toString(module.takeError()));
  }
  verify(**module);
  return std::move(*module);
}

std::string generate_code(const TranslationRequest& request, std::span<const std::byte> bitcode) {
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(request);
  llvm::LLVMContext context;
  const DiagnosticCollector diagnostics(context);
  const std::unique_ptr<llvm::Module> module = read_bitcode(bitcode, context);
  if (module->getFunction(kHostKernelSymbol) == nullptr) {
    fail_malformed("the bitcode has no kernel");
  }
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  prefer_wide_vectors(*module, *machine);
  optimize(*module, *machine, request.optimization);
  diagnostics.check();
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    fail_unsupported("LLVM cannot write object files for this machine");
  }
  passes.run(*module);
  diagnostics.check();
  return {object.begin(), object.end()};
}

}  // namespace backplane::translator
