#include "names.h"

#include <cstdint>
#include <string>

namespace backplane::translator {

std::string opcode_name(spv::Op opcode) {
  switch (static_cast<std::uint32_t>(opcode)) {
#include "opcode_names.inc"
    default:
      return "opcode " + std::to_string(static_cast<std::uint32_t>(opcode));
  }
}

std::string capability_name(spv::Capability capability) {
  switch (static_cast<std::uint32_t>(capability)) {
#include "capability_names.inc"
    default:
      return std::to_string(static_cast<std::uint32_t>(capability));
  }
}

std::string builtin_name(spv::BuiltIn builtin) {
  switch (static_cast<std::uint32_t>(builtin)) {
#include "builtin_names.inc"
    default:
      return std::to_string(static_cast<std::uint32_t>(builtin));
  }
}

std::string extended_name(std::uint32_t instruction) {
  switch (instruction) {
#include "extended_names.inc"
    default:
      return std::to_string(instruction);
  }
}

}  // namespace backplane::translator
