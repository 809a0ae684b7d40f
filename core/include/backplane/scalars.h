#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace backplane {

/// The scalar block of a launch: plain values one after the other, each at a multiple of its own alignment,
/// as std430 lays out scalars and structures of scalars. A value without heap memory.
class Scalars {
 public:
  static constexpr std::size_t kCapacity = 256;

  Scalars() noexcept = default;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }

  template <class T>
  void append(const T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>, "scalars are passed as plain bytes");
    static_assert(!std::is_same_v<T, bool>, "a GLSL bool cannot be passed; use uint32_t");
    const std::size_t at = (size_ + alignof(T) - 1) / alignof(T) * alignof(T);
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    size_ = at + sizeof(T);
  }

 private:
  std::size_t size_ = 0;
  alignas(16) std::array<std::byte, kCapacity> bytes_{};
};

/// Packs values into the scalar block of a launch, in order.
template <class... T>
[[nodiscard]] Scalars scalars(const T&... values) noexcept {
  static_assert(((sizeof(T) + alignof(T) - 1) + ... + 0) <= Scalars::kCapacity,
                "too many scalars; use a buffer");
  Scalars block;
  (block.append(values), ...);
  return block;
}

}  // namespace backplane
