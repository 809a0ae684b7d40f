#pragma once

#include <array>

namespace backplane::translator {

struct HalfConversion {
  const char* symbol;
  const void* address;
};

/// What generated code calls to convert halves where the processor cannot; the compiler's runtime has it only
/// as static code.
std::array<HalfConversion, 3> half_conversions();

}  // namespace backplane::translator
