#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <backplane/contract/result.h>

namespace backplane {

/// Compiles the text of a GLSL compute shader to SPIR-V. Any thread; compiles serialise inside. Text without
/// a
/// `#version` line is GLSL 460, and line numbers stay those of the text. `label` stands for the file name in
/// messages. Errors: `compilation`, one "label:line: text" for each fault.
Result<std::vector<std::uint32_t>> compile_glsl(std::string_view label, std::string_view source);

}  // namespace backplane
