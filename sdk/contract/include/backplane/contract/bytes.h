#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace backplane {

/// Where the memory of a `Bytes` lives. Unknown values are treated as `heap`.
enum class BytesKind : std::uint8_t {
  heap,    ///< Ordinary host memory.
  pinned,  ///< Host memory a device can reach directly; transfers need no intermediate copy.
  file,    ///< A mapping of a file.
};

/// A block of host memory that owns itself: it carries the function that releases it, so it may be released
/// by another module than made it. Movable, not copyable. Not thread-safe; distinct objects are independent,
/// and the last owner may be any thread.
class Bytes {
 public:
  /// Alignment, in bytes, of what `allocate` and `copy` return: a cache line, and the widest vector register.
  static constexpr std::size_t kAlignment = 64;

  /// Releases `size` bytes at `data`. Called once, on the thread that drops the block.
  using Release = void (*)(void* context, std::byte* data, std::size_t size) noexcept;

  Bytes() noexcept = default;

  /// Takes over `size` bytes at `data`; `release` may be null for memory that needs none.
  Bytes(std::byte* data, std::size_t size, BytesKind kind, Release release, void* context) noexcept
      : data_(data), size_(size), release_(release), context_(context), kind_(kind) {}

  /// `size` uninitialised bytes of heap memory. Throws `std::bad_alloc`.
  static Bytes allocate(std::size_t size) {
    if (size == 0) return {};
    const auto alignment = std::align_val_t{kAlignment};
    return {static_cast<std::byte*>(::operator new(size, alignment)), size, BytesKind::heap,
            [](void*, std::byte* data, std::size_t) noexcept {
              ::operator delete(data, std::align_val_t{kAlignment});
            },
            nullptr};
  }

  /// A heap copy of `source`. Throws `std::bad_alloc`.
  static Bytes copy(std::span<const std::byte> source) {
    Bytes bytes = allocate(source.size());
    if (!source.empty()) std::memcpy(bytes.data(), source.data(), source.size());
    return bytes;
  }

  Bytes(Bytes&& other) noexcept { swap(other); }
  Bytes& operator=(Bytes&& other) noexcept {
    Bytes(std::move(other)).swap(*this);
    return *this;
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (release_ != nullptr) release_(context_, data_, size_);
  }

  void swap(Bytes& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(release_, other.release_);
    std::swap(context_, other.context_);
    std::swap(kind_, other.kind_);
  }

  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] BytesKind kind() const noexcept { return kind_; }

  [[nodiscard]] std::span<std::byte> span() noexcept { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {data_, size_}; }

  /// The block as elements of `T`; trailing bytes that do not fill an element are left out.
  template <class T>
  [[nodiscard]] std::span<const T> as() const noexcept {
    return {reinterpret_cast<const T*>(data_), size_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Release release_ = nullptr;
  void* context_ = nullptr;
  BytesKind kind_ = BytesKind::heap;
};

}  // namespace backplane
