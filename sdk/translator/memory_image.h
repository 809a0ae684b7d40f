#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/Constant.h>

#include "types.h"

namespace backplane::translator {

/// The bytes of a constant of `type` as the translated code lays it out; gaps are 0.
std::vector<std::uint8_t> memory_image(const llvm::Constant& constant, const Type& type);

}  // namespace backplane::translator
