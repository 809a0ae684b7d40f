#pragma once

#include <cstdint>
#include <string>

#include <spirv/unified1/spirv.hpp11>

namespace backplane::translator {

// Names as the SPIR-V headers spell them; the number where they have none.

std::string opcode_name(spv::Op opcode);
std::string capability_name(spv::Capability capability);
std::string builtin_name(spv::BuiltIn builtin);
std::string extended_name(std::uint32_t instruction);

}  // namespace backplane::translator
