#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>

#include "page.h"
#include "page_store.h"
#include "size_class_index.h"

namespace backplane::toolkit {

/// How requests are placed on pages.
enum class Fit : std::uint8_t {
  split,  // many on a page
  whole,  // a page each, which may be a little larger
  exact,  // a page each, of its size
};

/// What a pool is to be like. Bytes.
struct PoolPlan {
  std::string name;
  MemoryPoolKind kind{};
  Fit fit = Fit::split;
  std::uint64_t page_size = 0;        ///< 0 where it follows the requests.
  std::uint64_t largest_request = 0;  ///< 0 for no limit.
  std::uint64_t capacity = 0;         ///< 0 for no cap.
  std::uint64_t idle_cleanups = 0;    ///< Cleanups a free page survives; 0 keeps it until memory is short.
  bool shares_pages = true;           ///< Whether its idle pages are there for other pools.
};

/// Places requests of one stream on pages, in constant time. One thread, the server's.
class Pool {
 public:
  Pool(PoolPlan plan, StreamId stream, PageStore& store)
      : plan_(std::move(plan)), stream_(stream), store_(store) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Whether requests of this size are for this pool.
  [[nodiscard]] bool accepts(std::uint64_t bytes) const noexcept {
    return plan_.largest_request == 0 || bytes <= plan_.largest_request;
  }

  /// A block of what is free; null if nothing fits, or is not found in constant time.
  Block* reserve(std::uint64_t bytes) noexcept {
    const std::uint64_t granules = store_.granules_of(bytes);
    Block* const block = plan_.fit == Fit::split ? index_.find(granules) : find_whole(granules);
    return block == nullptr ? nullptr : place(*block, granules, bytes);
  }

  /// The same, but finds whatever fits.
  Block* reserve_thoroughly(std::uint64_t bytes) noexcept {
    const std::uint64_t granules = store_.granules_of(bytes);
    Block* const block = plan_.fit == Fit::split ? index_.find_thoroughly(granules) : find_whole(granules);
    return block == nullptr ? nullptr : place(*block, granules, bytes);
  }

  /// A block of one more page. Errors: `pool_capacity_exceeded`, `out_of_memory`.
  Result<Block*> grow(std::uint64_t bytes);

  /// Frees a block; the device is done with it, or the stream's order protects it.
  void release(Block& block) noexcept;

  /// Marks a block as never to be used again.
  void leak(Block& block) noexcept;

  /// A page is no longer this pool's. It must be idle.
  void detach(Page& page) noexcept;

  /// Stops, or resumes, offering the free blocks of a page.
  void hide(Page& page) noexcept;
  void show(Page& page) noexcept;

  /// Calls `visit` for every page; it may detach the page it is given.
  template <class Visit>
  void for_each_page(Visit&& visit) const {
    for (Page* page = pages_; page != nullptr;) {
      Page* const next = page->next_page;
      visit(*page);
      page = next;
    }
  }

  [[nodiscard]] const PoolPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] bool shares_pages() const noexcept { return plan_.shares_pages; }
  [[nodiscard]] StreamId stream() const noexcept { return stream_; }
  [[nodiscard]] PageStore& store() noexcept { return store_; }
  [[nodiscard]] MemoryUsage usage() const noexcept;

  /// Bytes of a page where the size follows the workload; pages much smaller are outdated.
  [[nodiscard]] std::uint64_t current_page_size() const noexcept;

  /// One entry for each page size it has had.
  void report(std::vector<MemoryPoolReport>& reports) const;

 private:
  [[nodiscard]] Block* find_whole(std::uint64_t granules) const noexcept;
  [[nodiscard]] PageRequest request(std::uint64_t granules) const noexcept;
  Block* place(Block& block, std::uint64_t granules, std::uint64_t bytes) noexcept;
  Block* split_end(Block& block, std::uint64_t granules);
  void forget(Block& block) noexcept;
  void set_free_size(Block& block, std::uint64_t granules) noexcept;
  void attach(Page& page);
  [[nodiscard]] MemoryUsage usage_of(const PoolCounts& counts) const noexcept;

  PoolPlan plan_;
  StreamId stream_;
  PageStore& store_;
  SizeClassIndex<Block> index_;
  Page* pages_ = nullptr;
  std::uint64_t reserved_ = 0;     // bytes
  std::uint64_t largest_ = 0;      // granules
  std::deque<PoolCounts> counts_;  // pages point into it
};

}  // namespace backplane::toolkit
