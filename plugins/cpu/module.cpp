#include "module.h"

#include <cstring>

namespace backplane::cpu {
namespace {

constexpr std::uint32_t kOptimization = 3;

/// What the translator answered, given back when it goes.
class Output {
 public:
  Output(const TranslatorApi& translator, TranslationOutput output) noexcept
      : translator_(translator), output_(output) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { translator_.release(&output_); }

  [[nodiscard]] Result<std::vector<std::byte>> bytes() const {
    if (output_.error != nullptr) {
      return Error(output_.unsupported != 0 ? ErrorCode::compilation_unsupported : ErrorCode::compilation,
                   output_.error);
    }
    return std::vector<std::byte>(output_.data, output_.data + output_.byte_count);
  }

 private:
  const TranslatorApi& translator_;
  TranslationOutput output_;
};

/// A request for `kernel`, whose code is copied to where words may lie.
struct Request {
  explicit Request(const KernelDefinition& kernel) : words(kernel.code.size() / sizeof(std::uint32_t)) {
    std::memcpy(words.data(), kernel.code.data(), words.size() * sizeof(std::uint32_t));
    value = {.size = sizeof(TranslationRequest),
             .target = TranslationTarget::host,
             .words = words.data(),
             .word_count = words.size(),
             .entry_point = kernel.entry_point.c_str(),
             .label = kernel.label.c_str(),
             .processor = nullptr,
             .features = nullptr,
             .subgroup_width = 1,
             .optimization = kOptimization};
  }

  std::vector<std::uint32_t> words;
  TranslationRequest value{};
};

}  // namespace

std::string Compiler::fingerprint() {
  const Result<const TranslatorApi*> translator = host_.translator();
  return translator ? (*translator)->fingerprint() : "no translator";
}

Result<std::vector<std::byte>> Compiler::lower(const KernelDefinition& kernel) {
  if (kernel.form == KernelForm::cpu_function) return std::vector<std::byte>();
  BACKPLANE_TRY(const TranslatorApi* translator, host_.translator());
  const Request request(kernel);
  return Output(*translator, translator->lower(&request.value)).bytes();
}

Result<Artifact> Compiler::finalize(const KernelDefinition& kernel, std::span<const std::byte> lowered) {
  if (kernel.form == KernelForm::cpu_function) return Artifact{};
  BACKPLANE_TRY(const TranslatorApi* translator, host_.translator());
  const Request request(kernel);
  const Output output(*translator, translator->generate(&request.value, lowered.data(), lowered.size()));
  BACKPLANE_TRY(std::vector<std::byte> object, output.bytes());
  return Artifact{std::move(object)};
}

std::string Compiler::source_text(const KernelDefinition& kernel, std::span<const std::byte> lowered) {
  const Result<const TranslatorApi*> translator = host_.translator();
  if (!translator || lowered.empty()) return {};
  const Request request(kernel);
  const Output output(**translator,
                      (*translator)->disassemble(&request.value, lowered.data(), lowered.size()));
  const Result<std::vector<std::byte>> text = output.bytes();
  return text ? std::string(reinterpret_cast<const char*>(text->data()), text->size()) : std::string();
}

Result<std::unique_ptr<Module>> Module::load(IHost& host, const KernelRef& kernel) {
  std::unique_ptr<Module> module(new Module);
  if (kernel.definition->form == KernelForm::cpu_function) return module;
  BACKPLANE_TRY(module->translator_, host.translator());
  const std::vector<std::byte>& object = kernel.artifact->code;
  TranslationOutput failure{};
  module->handle_ = module->translator_->link(object.data(), object.size(), &module->info_, &failure);
  const Output reason(*module->translator_, failure);
  if (module->handle_ == nullptr) {
    return Error(ErrorCode::launch_compilation,
                 "Kernel \"" + kernel.definition->label + "\" cannot be linked")
        .caused_by(Error(ErrorCode::compilation, failure.error));
  }
  return module;
}

Module::~Module() {
  if (handle_ != nullptr) translator_->unlink(handle_);
}

}  // namespace backplane::cpu
