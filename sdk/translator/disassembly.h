#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <backplane/contract/translator.h>

namespace backplane::translator {

/// LLVM IR for bitcode, assembly for an object of the host, the text itself for text. Throws `Failure`.
std::string disassemble_code(const TranslationRequest& request, std::span<const std::byte> code);

}  // namespace backplane::translator
