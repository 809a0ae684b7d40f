#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <backplane/contract/kernel.h>
#include <backplane/contract/result.h>

namespace backplane {

/// A value for a specialization constant, as its bit pattern: one word, or two, the low one first, for 64
/// bits.
struct SpecializationWords {
  std::uint32_t id;
  std::vector<std::uint32_t> words;
};

/// Whether the words are a valid compute module for Vulkan 1.2 (SPIR-V up to 1.5), with scalar block layout
/// allowed. Any thread. Error: `compilation` with the validator's text.
Result<void> validate_spirv(const std::string& label, std::span<const std::uint32_t> words);

/// Fixes every specialization constant, at `values` or else at its default, and adds the index checks of
/// `mode`. Any thread. Requires a valid module. Errors: `compilation`; `compilation_unsupported` for
/// `ExecutionMode::validate`.
Result<std::vector<std::uint32_t>> finish_spirv(const std::string& label,
                                                std::span<const std::uint32_t> words,
                                                std::span<const SpecializationWords> values,
                                                ExecutionMode mode);

/// The module's assembly, for people. Empty for something that is no module.
std::string disassemble_spirv(std::span<const std::uint32_t> words);

}  // namespace backplane
