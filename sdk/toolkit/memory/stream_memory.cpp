#include "stream_memory.h"

#include <algorithm>
#include <optional>
#include <string>

#include "presets.h"

namespace backplane::toolkit {
namespace {

Result<Block*> reserve_in(Pool& pool, std::uint64_t size) {
  if (Block* const block = pool.reserve_thoroughly(size)) return block;
  return pool.grow(size);
}

}  // namespace

StreamMemory::StreamMemory(StreamId stream, PageStore& store, const std::vector<PoolPlan>& plans)
    : stream_(stream),
      store_(store),
      persistent_(persistent_pool(), stream, store),
      auxiliary_(auxiliary_pool(), stream, store) {
  rebuild(plans);
}

Result<Block*> StreamMemory::reserve(std::uint64_t size, bool auxiliary) {
  if (auxiliary) return reserve_in(auxiliary_, size);
  if (persistent_mode) return reserve_in(persistent_, size);
  std::optional<Error> failure;
  std::uint64_t largest = 0;
  for (const std::unique_ptr<Pool>& pool : pools_) {
    largest = std::max(largest, pool->plan().largest_request);
    if (!pool->accepts(size)) continue;
    Result<Block*> block = reserve_in(*pool, size);
    if (block) return block;
    // A pool that is full says less than a device that is.
    if (!failure || failure->code() == ErrorCode::pool_capacity_exceeded) failure = std::move(block).error();
  }
  if (failure) return *std::move(failure);
  return Error(ErrorCode::page_sizes_exhausted,
               "A request of " + std::to_string(size) +
                   " bytes fits no page of the installed memory pools, which "
                   "take at most " +
                   std::to_string(largest) + " bytes; install a pool with larger pages.")
      .with_limit(size, largest);
}

bool StreamMemory::in_use() const noexcept {
  for (const std::unique_ptr<Pool>& pool : pools_) {
    if (pool->usage().allocation_count != 0) return true;
  }
  return false;
}

void StreamMemory::rebuild(const std::vector<PoolPlan>& plans) {
  for (const std::unique_ptr<Pool>& pool : pools_) {
    pool->for_each_page([&](Page& page) { store_.disown(page); });
  }
  pools_.clear();
  for (const PoolPlan& plan : plans) pools_.push_back(std::make_unique<Pool>(plan, stream_, store_));
}

void StreamMemory::age_idle_pages() {
  std::optional<Fence> now;
  std::vector<Page*> expired;
  for_each_pool([&](Pool& pool) {
    if (pool.plan().idle_cleanups == 0) return;
    pool.for_each_page([&](Page& page) {
      if (!page.offered) return;
      if (page.idle_for++ == 0) {
        if (!now) now = store_.progress().mark(stream_);
        page.idle_since = *now;
      } else if (page.idle_for > pool.plan().idle_cleanups && store_.progress().reached(page.idle_since)) {
        expired.push_back(&page);
      }
    });
  });
  store_.release_done(expired);
}

}  // namespace backplane::toolkit
