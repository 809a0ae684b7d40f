#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include <backplane/contract/memory.h>

namespace backplane {

/// Memory of a device, or a part of it, without a type. A value: copies share the memory, and the last one
/// gone gives it back without waiting. Copies may live on any threads; one object is for one thread at a
/// time.
class BufferHandle {
 public:
  BufferHandle(ManagedMemory memory, std::uint64_t offset, std::uint64_t size_bytes) noexcept
      : memory_(std::move(memory)), offset_(offset), size_bytes_(size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  /// The name it was made with, shown in errors; empty if it has none.
  [[nodiscard]] const std::string& label() const noexcept { return memory_->label(); }

  [[nodiscard]] const ManagedMemory& memory() const noexcept { return memory_; }
  [[nodiscard]] BufferBinding binding() const noexcept { return {memory_.get(), offset_, size_bytes_}; }

 protected:
  /// A part, cut off where this one ends.
  [[nodiscard]] BufferHandle part(std::uint64_t first_byte, std::uint64_t byte_count) const {
    const std::uint64_t begin = first_byte < size_bytes_ ? first_byte : size_bytes_;
    const std::uint64_t rest = size_bytes_ - begin;
    return {memory_, offset_ + begin, byte_count < rest ? byte_count : rest};
  }

 private:
  ManagedMemory memory_;
  std::uint64_t offset_;
  std::uint64_t size_bytes_;
};

/// Memory of a device that holds elements of `T`. See `BufferHandle`.
template <class T>
class Buffer : public BufferHandle {
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied to and from the device as plain bytes");

 public:
  using value_type = T;

  explicit Buffer(BufferHandle handle) noexcept : BufferHandle(std::move(handle)) {}

  /// Elements.
  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(size_bytes() / sizeof(T));
  }

  /// `count` elements from `first` on, sharing this memory; cut off where this buffer ends.
  [[nodiscard]] Buffer slice(std::size_t first, std::size_t count) const {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(T);
    return Buffer(
        part((first < kMost ? first : kMost) * sizeof(T), (count < kMost ? count : kMost) * sizeof(T)));
  }
};

/// A buffer named in a call; converts from any buffer, and lives as long as the call.
class BufferReference {
 public:
  BufferReference(const BufferHandle& buffer) noexcept
      : buffer_(&buffer) {}  // NOLINT(*-explicit-*): "{x, y}"

  const BufferHandle* operator->() const noexcept { return buffer_; }
  const BufferHandle& operator*() const noexcept { return *buffer_; }

 private:
  const BufferHandle* buffer_;
};

}  // namespace backplane
