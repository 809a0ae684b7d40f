#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>

#include "page_store.h"
#include "pool.h"

namespace backplane::toolkit {

/// The pools of one stream. One thread, the server's.
class StreamMemory {
 public:
  StreamMemory(StreamId stream, PageStore& store, const std::vector<PoolPlan>& plans);
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  /// A free block of the pool that takes this size first; null where it has none, or no pool takes it.
  [[nodiscard]] Block* reserve_quickly(std::uint64_t size, bool auxiliary) noexcept {
    if (auxiliary) return auxiliary_.reserve(size);
    if (persistent_mode) return persistent_.reserve(size);
    for (const std::unique_ptr<Pool>& pool : pools_) {
      if (pool->accepts(size)) return pool->reserve(size);
    }
    return nullptr;
  }

  /// A block of any pool that takes this size, with a new page where need be. Errors: those of
  /// `MemoryManagement::reserve`.
  Result<Block*> reserve(std::uint64_t size, bool auxiliary);

  /// Whether something is live in the pools that `rebuild` replaces.
  [[nodiscard]] bool in_use() const noexcept;

  /// Replaces them. Their pages are nobody's afterwards. Requires: nothing is live in them.
  void rebuild(const std::vector<PoolPlan>& plans);

  /// Counts one more cleanup for idle pages and gives back those whose time has come, if the device is seen
  /// to be done with them. Does not wait.
  void age_idle_pages();

  template <class Visit>
  void for_each_pool(Visit&& visit) const {
    for (const std::unique_ptr<Pool>& pool : pools_) visit(*pool);
    visit(persistent_);
    visit(auxiliary_);
  }
  template <class Visit>
  void for_each_pool(Visit&& visit) {
    for (const std::unique_ptr<Pool>& pool : pools_) visit(*pool);
    visit(persistent_);
    visit(auxiliary_);
  }

  [[nodiscard]] StreamId stream() const noexcept { return stream_; }

  bool persistent_mode = false;
  std::uint64_t empty_slices = 0;  ///< Allocations of no bytes.
  std::uint32_t reserves = 0;      ///< Since the last periodic cleanup.

 private:
  StreamId stream_;
  PageStore& store_;
  std::vector<std::unique_ptr<Pool>> pools_;
  Pool persistent_;
  Pool auxiliary_;
};

}  // namespace backplane::toolkit
