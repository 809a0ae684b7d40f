#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <backplane/contract/translator.h>

#include "codegen.h"
#include "disassembly.h"
#include "failure.h"
#include "host_target.h"
#include "link.h"
#include "module.h"
#include "translation.h"

// The C table. Nothing that is thrown leaves it.

namespace backplane::translator {
namespace {

struct OutputOwner {
  std::string text;
};

TranslationOutput output_of(std::string text, bool is_error, bool is_unsupported) {
  auto owner = std::make_unique<OutputOwner>(std::move(text));
  TranslationOutput output{};
  if (is_error) {
    output.error = owner->text.c_str();
    output.unsupported = is_unsupported ? 1 : 0;
  } else {
    output.data = reinterpret_cast<const std::byte*>(owner->text.data());
    output.byte_count = owner->text.size();
  }
  output.owner = owner.release();
  return output;
}

TranslationOutput failure_of(const char* label, const std::string& message, bool is_unsupported) {
  const bool has_label = label != nullptr && *label != '\0';
  return output_of(has_label ? std::string(label) + ": " + message : message, true, is_unsupported);
}

/// For the case that not even the message can be allocated.
TranslationOutput out_of_memory() {
  TranslationOutput output{};
  output.error = "the translator ran out of memory";
  return output;
}

template <typename Work>
TranslationOutput guarded(const char* label, const Work& work) noexcept {
  try {
    try {
      return output_of(work(), false, false);
    } catch (const Failure& failure) {
      return failure_of(label, failure.what(), failure.is_unsupported());
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::exception& exception) {
      return failure_of(label, exception.what(), false);
    } catch (...) {
      return failure_of(label, "an exception of unknown type", false);
    }
  } catch (...) {
    return out_of_memory();
  }
}

void check_request(const TranslationRequest* request) {
  if (request == nullptr || request->size < sizeof(TranslationRequest)) {
    fail_malformed("the translation request is of another revision");
  }
}

const char* label_of(const TranslationRequest* request) {
  return request != nullptr && request->size >= sizeof(TranslationRequest) ? request->label : nullptr;
}

std::span<const std::byte> bytes_of(const std::byte* data, std::size_t count) {
  if (data == nullptr) {
    fail_malformed("there is nothing to work on");
  }
  return {data, count};
}

std::string lower_module(const TranslationRequest& request) {
  if (request.words == nullptr || request.entry_point == nullptr) {
    fail_malformed("the translation request has no module or no entry point");
  }
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(request);
  const Module module({request.words, request.word_count}, request.entry_point);
  llvm::LLVMContext context;
  const DiagnosticCollector diagnostics(context);
  llvm::Module output("kernel", context);
  output.setTargetTriple(machine->getTargetTriple().str());
  output.setDataLayout(machine->createDataLayout());
  const Translation translation(module, output);
  wrap_for_host(translation);
  diagnostics.check();
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(output, stream);
  return bitcode;
}

const char* fingerprint_entry() noexcept {
  try {
    return fingerprint().c_str();
  } catch (...) {
    return "";
  }
}

TranslationOutput lower_entry(const TranslationRequest* request) noexcept {
  return guarded(label_of(request), [&] {
    check_request(request);
    return lower_module(*request);
  });
}

TranslationOutput generate_entry(const TranslationRequest* request, const std::byte* lowered,
                                 std::size_t byte_count) noexcept {
  return guarded(label_of(request), [&] {
    check_request(request);
    return generate_code(*request, bytes_of(lowered, byte_count));
  });
}

TranslationOutput disassemble_entry(const TranslationRequest* request, const std::byte* code,
                                    std::size_t byte_count) noexcept {
  return guarded(label_of(request), [&] {
    check_request(request);
    return disassemble_code(*request, bytes_of(code, byte_count));
  });
}

void release_entry(TranslationOutput* output) noexcept {
  if (output != nullptr) {
    delete static_cast<OutputOwner*>(output->owner);
    *output = {};
  }
}

void* link_entry(const std::byte* object, std::size_t byte_count, HostKernelInfo* info,
                 TranslationOutput* failure) noexcept {
  LinkedKernel* linked = nullptr;
  TranslationOutput output = guarded(nullptr, [&] {
    auto made = std::make_unique<LinkedKernel>(bytes_of(object, byte_count));
    *info = made->info();
    linked = made.release();
    return std::string();
  });
  if (linked == nullptr && failure != nullptr) {
    *failure = output;
  } else {
    release_entry(&output);
  }
  return linked;
}

void unlink_entry(void* handle) noexcept {
  delete static_cast<LinkedKernel*>(handle);
}

constexpr TranslatorApi kApi = {.size = sizeof(TranslatorApi),
                                .fingerprint = fingerprint_entry,
                                .lower = lower_entry,
                                .generate = generate_entry,
                                .disassemble = disassemble_entry,
                                .release = release_entry,
                                .link = link_entry,
                                .unlink = unlink_entry};

}  // namespace
}  // namespace backplane::translator

extern "C" __attribute__((visibility("default"))) const backplane::TranslatorApi*
backplane_translator_v1() noexcept {
  return &backplane::translator::kApi;
}
