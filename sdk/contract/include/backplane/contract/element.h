#pragma once

#include <cstdint>

namespace backplane {

/// Type of a tensor's elements. Unknown values are refused by number.
enum class ElementType : std::uint8_t {
  f16 = 0,
  bf16 = 1,
  f32 = 2,
  f64 = 3,
  i8 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  u8 = 8,
  u16 = 9,
  u32 = 10,
  u64 = 11,
};

/// Bytes of an element; 0 for an unknown type.
[[nodiscard]] constexpr std::uint32_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::i8:
    case ElementType::u8:
      return 1;
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::i16:
    case ElementType::u16:
      return 2;
    case ElementType::f32:
    case ElementType::i32:
    case ElementType::u32:
      return 4;
    case ElementType::f64:
    case ElementType::i64:
    case ElementType::u64:
      return 8;
  }
  return 0;
}

}  // namespace backplane
