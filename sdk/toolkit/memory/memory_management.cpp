#include <string>
#include <utility>

#include <backplane/toolkit/memory_management.h>

#include "management_state.h"
#include "presets.h"

namespace backplane::toolkit {
namespace {

constexpr std::uint32_t kCollectPeriod = 64;  // reserves; asking a driver for its progress is not free

}  // namespace

MemoryManagement::MemoryManagement(IStorage& storage, IDeviceProgress& progress, Failures& failures,
                                   std::shared_ptr<DroppedAllocations> dropped, MemoryOptions options)
    : state_(std::make_unique<State>(storage, progress, failures, std::move(dropped), std::move(options))) {
  state_->plans = plan_pools({}, state_->store.largest_block()).value();  // the default is always valid
}

MemoryManagement::~MemoryManagement() {
  drain_dropped();
  state_->drops.drain();
  for (const auto& [stream, memory] : state_->streams) {
    const bool done = state_->progress.wait(state_->progress.mark(stream)).has_value();
    memory->for_each_pool([&](Pool& pool) {
      pool.for_each_page([&](Page& page) {
        for (const Block* block = page.first; block != nullptr; block = block->next) {
          if (block->slice == nullptr) continue;
          state_->failures.forget(block->slice->tracked);
          state_->slices.destroy(block->slice);
        }
        state_->store.close(page, done);
      });
    });
  }
  for (const auto& [slice, memory] : state_->without_memory) {
    state_->failures.forget(slice->tracked);
    state_->slices.destroy(slice);
  }
  // What is left in the store is nobody's: of pools that were replaced.
  state_->store.release(state_->store.offered([](const Page&) { return true; }));
}

inline void MemoryManagement::free(Slice& slice) noexcept {
  if (Block* const block = slice.block; block != nullptr) {
    Page& page = *block->page;
    if (slice.pinned) state_->store.unguard(page);
    if (slice.stream == page.stream) {
      page.pool->release(*block);
    } else {
      state_->drops.add(*block, slice.stream);
    }
  } else {
    const auto empty = state_->without_memory.find(&slice);
    if (slice.size == 0) --empty->second->empty_slices;
    state_->without_memory.erase(empty);
  }
  state_->slices.destroy(&slice);
}

inline StreamMemory& MemoryManagement::stream_memory(StreamId stream) {
  StreamMemory* const last = state_->last_stream;
  return last != nullptr && last->stream() == stream ? *last : find_stream(stream);
}

Result<Slice*> MemoryManagement::reserve(Allocation& allocation, std::uint64_t size, StreamId stream) {
  State& state = *state_;
  if (!state.dropped->empty()) drain_dropped();
  StreamMemory& memory = stream_memory(stream);
  if (++memory.reserves % kCollectPeriod == 0) [[unlikely]]
    keep_up(memory);
  Slice& slice = *state.slices.create(
      [&] { return Slice{.size = size, .stream = stream, .tracked = state.failures.track()}; });
  allocation.server_slot = reinterpret_cast<std::uintptr_t>(&slice);
  return place(slice, memory, false);
}

Result<Slice*> MemoryManagement::reserve_auxiliary(std::uint64_t size, StreamId stream) {
  Slice& slice = *state_->slices.create([&] { return Slice{.size = size, .stream = stream}; });
  Result<Slice*> placed = place(slice, stream_memory(stream), true);
  if (!placed) free(slice);
  return placed;
}

void MemoryManagement::release_auxiliary(Slice& slice) noexcept {
  free(slice);
  if (!state_->drops.empty()) state_->drops.seal();
}

void MemoryManagement::keep_up(StreamMemory& memory) {
  state_->drops.collect();
  if (memory.reserves < state_->options.cleanup_period) return;
  memory.reserves = 0;
  memory.age_idle_pages();
}

inline Result<Slice*> MemoryManagement::place(Slice& slice, StreamMemory& memory, bool auxiliary) {
  // An empty request wraps around and is none that the pools know.
  Block* block = nullptr;
  if (slice.size - 1 < state_->store.largest_block()) block = memory.reserve_quickly(slice.size, auxiliary);
  if (block == nullptr) [[unlikely]]
    return place_slowly(slice, memory, auxiliary);
  attach(slice, *block);
  return &slice;
}

inline void MemoryManagement::attach(Slice& slice, Block& block) const noexcept {
  block.slice = &slice;
  slice.block = &block;
  slice.place = {block.page->storage.id, state_->store.bytes_of(block.begin)};
}

Result<Slice*> MemoryManagement::place_slowly(Slice& slice, StreamMemory& memory, bool auxiliary) {
  if (slice.size == 0) {
    state_->without_memory.emplace(&slice, &memory);
    ++memory.empty_slices;
    return &slice;
  }
  Result<Block*> block = reserve_slowly(memory, slice.size, auxiliary);
  if (!block) {
    state_->without_memory.emplace(&slice, &memory);
    slice.backing = block.error();
    return std::move(block).error();
  }
  attach(slice, **block);
  return &slice;
}

Result<void> MemoryManagement::check_size(std::uint64_t size) const {
  const std::uint64_t limit = state_->store.largest_block();
  if (size <= limit) return {};
  return Error(ErrorCode::buffer_too_big, "An allocation of " + std::to_string(size) +
                                              " bytes exceeds the device's limit of " +
                                              std::to_string(limit) + " bytes for one allocation.")
      .with_limit(size, limit);
}

Result<Block*> MemoryManagement::reserve_slowly(StreamMemory& memory, std::uint64_t size, bool auxiliary) {
  BACKPLANE_CHECK(check_size(size));
  if (!state_->drops.empty()) {
    state_->drops.collect();
    if (Block* const collected = memory.reserve_quickly(size, auxiliary)) return collected;
  }
  Result<Block*> block = memory.reserve(size, auxiliary);
  if (block || block.error().code() == ErrorCode::page_sizes_exhausted) return block;
  block = reserve_reclaiming(memory, size, auxiliary);
  if (block || !state_->options.out_of_memory || !state_->options.out_of_memory(size)) return block;
  return reserve_reclaiming(memory, size, auxiliary);
}

Result<Block*> MemoryManagement::reserve_reclaiming(StreamMemory& memory, std::uint64_t size,
                                                    bool auxiliary) {
  // First what is freed but not yet free, then what is free but of the wrong shape.
  drain_dropped();
  state_->drops.drain();
  if (Result<Block*> block = memory.reserve(size, auxiliary)) return block;
  release_idle_pages();
  return memory.reserve(size, auxiliary);
}

void MemoryManagement::release_idle_pages() {
  std::vector<Page*> pages = state_->store.offered([](const Page&) { return true; });
  for (const auto& [stream, memory] : state_->streams) {
    memory->for_each_pool([&](Pool& pool) {
      if (pool.shares_pages()) return;
      pool.for_each_page([&](Page& page) {
        if (page.idle() && page.guards == 0) pages.push_back(&page);
      });
    });
  }
  state_->store.release(pages);
}

void MemoryManagement::drain_dropped() {
  for (Allocation* dropped = state_->dropped->take_all(); dropped != nullptr;) {
    Allocation* const allocation = std::exchange(dropped, DroppedAllocations::next(dropped));
    if (allocation->server_slot != 0) {
      Slice& slice = slice_of(*allocation);
      if (!slice.tracked.taint.clean()) state_->failures.forget(slice.tracked);
      free(slice);
    }
    DroppedAllocations::destroy(allocation);
  }
  if (!state_->drops.empty()) state_->drops.seal();
}

void MemoryManagement::allocation_mode(MemoryAllocationMode mode, StreamId stream) {
  stream_memory(stream).persistent_mode = mode == MemoryAllocationMode::persistent;
}

Result<void> MemoryManagement::install_pools(const MemoryConfiguration& configuration, StreamId stream) {
  BACKPLANE_TRY(state_->plans, plan_pools(configuration, state_->store.largest_block()));
  drain_dropped();
  state_->drops.collect();
  StreamMemory& memory = stream_memory(stream);
  if (memory.in_use()) {
    return Error(ErrorCode::pools_in_use,
                 "The memory pools of stream " + std::to_string(stream.value) +
                     " hold live allocations and stay as they are; drop them and install the layout again. "
                     "Streams made from now on have the new layout.");
  }
  memory.rebuild(state_->plans);
  return {};
}

void MemoryManagement::cleanup(StreamId stream) {
  drain_dropped();
  state_->drops.drain();
  std::vector<Page*> pages = state_->store.offered(
      [&](const Page& page) { return page.pool == nullptr || page.pool->stream() == stream; });
  stream_memory(stream).for_each_pool([&](Pool& pool) {
    if (pool.shares_pages()) return;
    pool.for_each_page([&](Page& page) {
      if (page.idle() && page.guards == 0) pages.push_back(&page);
    });
  });
  state_->store.release(pages);
}

MemoryUsage MemoryManagement::usage(StreamId stream) const {
  MemoryUsage sum;
  const auto found = state_->streams.find(stream);
  if (found == state_->streams.end()) return sum;
  sum.allocation_count = found->second->empty_slices;
  found->second->for_each_pool([&](const Pool& pool) {
    const MemoryUsage usage = pool.usage();
    if (pool.plan().kind != MemoryPoolKind::auxiliary) sum.allocation_count += usage.allocation_count;
    sum.bytes_in_use += usage.bytes_in_use;
    sum.bytes_padding += usage.bytes_padding;
    sum.bytes_reserved += usage.bytes_reserved;
  });
  return sum;
}

MemoryReport MemoryManagement::report(StreamId stream) const {
  MemoryReport report;
  const auto found = state_->streams.find(stream);
  if (found == state_->streams.end()) return report;
  found->second->for_each_pool([&](const Pool& pool) { pool.report(report.pools); });
  return report;
}

void MemoryManagement::pin(Slice& slice) {
  if (slice.pinned || slice.block == nullptr) return;
  slice.pinned = true;
  state_->store.guard(*slice.block->page);
}

PageGuard MemoryManagement::guard(const Slice& slice) {
  return slice.block == nullptr ? PageGuard() : PageGuard(state_->store, *slice.block->page);
}

std::uint64_t MemoryManagement::reserved() const noexcept {
  return state_->store.reserved();
}

std::uint64_t MemoryManagement::peak_reserved() const noexcept {
  return state_->store.peak_reserved();
}

StreamMemory& MemoryManagement::find_stream(StreamId stream) {
  std::unique_ptr<StreamMemory>& memory = state_->streams[stream];
  if (memory == nullptr) memory = std::make_unique<StreamMemory>(stream, state_->store, state_->plans);
  state_->last_stream = memory.get();
  return *memory;
}

}  // namespace backplane::toolkit
