#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace backplane::toolkit {

/// Objects of one type that come and go often and keep their address. All must be destroyed before the slab
/// is. One thread, the server's.
template <class T>
class Slab {
 public:
  /// The new object is what `make` returns.
  template <class Make>
  T* create(Make&& make) {
    if (free_ == nullptr) [[unlikely]]
      grow();
    Cell* const cell = std::exchange(free_, free_->next);
    return ::new (cell->bytes) T(std::forward<Make>(make)());
  }
  T* create() {
    return create([] { return T{}; });
  }

  void destroy(T* object) noexcept {
    object->~T();
    free_ = ::new (object) Cell{free_};
  }

 private:
  union Cell {
    Cell* next;
    alignas(T) std::byte bytes[sizeof(T)];
  };
  static constexpr std::size_t kCells = 128;

  void grow() {
    chunks_.push_back(std::make_unique_for_overwrite<Cell[]>(kCells));
    for (std::size_t i = kCells; i-- > 0;) free_ = ::new (&chunks_.back()[i]) Cell{free_};
  }

  std::vector<std::unique_ptr<Cell[]>> chunks_;
  Cell* free_ = nullptr;
};

}  // namespace backplane::toolkit
