#include "memory_image.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Constants.h>

#include "failure.h"

namespace backplane::translator {
namespace {

void write_scalar(const llvm::Constant& constant, const Type& type, std::uint8_t* at) {
  std::uint64_t bits = 0;
  if (const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    bits = integer->getZExtValue();
  } else if (const auto* floating = llvm::dyn_cast<llvm::ConstantFP>(&constant)) {
    bits = floating->getValueAPF().bitcastToAPInt().getZExtValue();
  }
  for (std::uint64_t byte = 0; byte < type.size; ++byte) {
    at[byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
  }
}

void write(const llvm::Constant& constant, const Type& type, std::uint8_t* at) {
  if (constant.isNullValue()) {
    return;
  }
  if (type.is_scalar()) {
    write_scalar(constant, type, at);
    return;
  }
  const bool is_structure = type.kind == TypeKind::structure;
  const std::size_t count = is_structure ? type.members.size() : type.count;
  for (std::size_t index = 0; index < count; ++index) {
    const llvm::Constant* part = constant.getAggregateElement(static_cast<unsigned>(index));
    if (part == nullptr) {
      fail_unsupported("a constant of a form that is not known");
    }
    const std::uint64_t stride = type.is_array() ? type.stride : is_structure ? 0 : type.element->size;
    const std::uint64_t offset = is_structure ? type.members[index].offset : stride * index;
    write(*part, is_structure ? *type.members[index].type : *type.element, at + offset);
  }
}

}  // namespace

std::vector<std::uint8_t> memory_image(const llvm::Constant& constant, const Type& type) {
  std::vector<std::uint8_t> bytes(type.size, 0);
  write(constant, type, bytes.data());
  return bytes;
}

}  // namespace backplane::translator
