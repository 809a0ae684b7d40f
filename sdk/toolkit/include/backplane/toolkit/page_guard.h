#pragma once

#include <utility>

namespace backplane::toolkit {

struct Page;
class PageStore;

/// Keeps the page of a slice in place: while a guard lives, nothing on the page moves and the page goes to
/// neither another stream nor the storage. For addresses that were handed out or recorded. Not to outlive the
/// memory management it is from. One thread, the server's.
class PageGuard {
 public:
  PageGuard() noexcept = default;
  PageGuard(PageStore& store, Page& page) noexcept;
  PageGuard(PageGuard&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)), page_(std::exchange(other.page_, nullptr)) {}
  PageGuard& operator=(PageGuard other) noexcept {
    std::swap(store_, other.store_);
    std::swap(page_, other.page_);
    return *this;
  }
  ~PageGuard();

 private:
  PageStore* store_ = nullptr;
  Page* page_ = nullptr;
};

}  // namespace backplane::toolkit
