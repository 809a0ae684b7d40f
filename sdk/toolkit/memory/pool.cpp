#include "pool.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace backplane::toolkit {
namespace {

constexpr std::uint64_t kSmallestPage = std::uint64_t{2} << 20;  // bytes; what drivers hand out anyway
constexpr unsigned kGrowthShift = 3;          // a page that is not needed for its size adds at most an eighth
constexpr std::uint64_t kLargestInPage = 16;  // of the largest requests, in a page that is not one's own
constexpr unsigned kRoundingShift = 7;        // a page has the size of its request to within 1 %
constexpr unsigned kExclusiveShift = 3;       // and where it is a request's own, to within an eighth

/// `granules` rounded up to a multiple of the power of two that is at most a 2^shift-th of it.
std::uint64_t round_up(std::uint64_t granules, unsigned shift) {
  const std::uint64_t step = std::bit_floor(std::max<std::uint64_t>(granules >> shift, 1));
  return (granules + step - 1) & ~(step - 1);
}

}  // namespace

Block* Pool::find_whole(std::uint64_t granules) const noexcept {
  if (plan_.fit == Fit::exact) return index_.find_exactly(granules);
  Block* const block = index_.find(granules);
  return block == nullptr || block->granules > request(granules).most ? nullptr : block;
}

PageRequest Pool::request(std::uint64_t granules) const noexcept {
  const std::uint64_t page = store_.granules_of(plan_.page_size);
  if (plan_.fit == Fit::exact) return {stream_, granules, granules, granules};
  if (plan_.fit == Fit::whole) {
    if (page != 0) return {stream_, page, page, page};
    const bool rounds = plan_.kind == MemoryPoolKind::exclusive;
    const std::uint64_t wanted = rounds ? round_up(granules, kExclusiveShift) : granules;
    return {stream_, granules, wanted, granules + (granules >> (kExclusiveShift - 1))};
  }
  if (page != 0) {
    const std::uint64_t wanted = std::max(page, granules);
    return {stream_, granules, wanted, wanted + wanted / 2};
  }
  const std::uint64_t usual = store_.granules_of(current_page_size());
  return {stream_, granules, std::max(usual, round_up(granules, kRoundingShift)), ~std::uint64_t{0}};
}

std::uint64_t Pool::current_page_size() const noexcept {
  if (plan_.page_size != 0) return plan_.page_size;
  const std::uint64_t largest = store_.bytes_of(kLargestInPage * round_up(largest_, kRoundingShift));
  return std::max(kSmallestPage, std::min(largest, reserved_ >> kGrowthShift));
}

inline Block* Pool::split_end(Block& block, std::uint64_t granules) {
  Block* const next = block.next;
  const std::uint64_t left = block.granules - granules;
  Block* const end = store_.blocks().create([&] {
    return Block{.page = block.page,
                 .begin = block.begin + left,
                 .granules = granules,
                 .previous = &block,
                 .next = next};
  });
  if (next != nullptr) next->previous = end;
  block.next = end;
  index_.resize(block, left);  // what is left is at the front, where it often need not even change lists
  return end;
}

Block* Pool::place(Block& block, std::uint64_t granules, std::uint64_t bytes) noexcept {
  Page& page = *block.page;
  if (page.offered) store_.withdraw(page);
  Block* placed = &block;
  if (block.granules > granules && plan_.fit == Fit::split) {
    placed = split_end(block, granules);
  } else {
    index_.remove(block);
  }
  placed->state = BlockState::used;
  placed->asked = bytes;
  page.taken += placed->granules;

  PoolCounts& counts = *page.counts;
  ++counts.slices;
  counts.in_use += bytes;
  if (counts.in_use > counts.peak_in_use) counts.peak_in_use = counts.in_use;
  return placed;
}

inline void Pool::forget(Block& block) noexcept {
  (block.previous == nullptr ? block.page->first : block.previous->next) = block.next;
  if (block.next != nullptr) block.next->previous = block.previous;
  store_.blocks().destroy(&block);
}

inline void Pool::set_free_size(Block& block, std::uint64_t granules) noexcept {
  if (block.page->hidden) {
    block.granules = granules;
  } else {
    index_.resize(block, granules);
  }
}

void Pool::release(Block& block) noexcept {
  Page& page = *block.page;
  PoolCounts& counts = *page.counts;
  --counts.slices;
  counts.in_use -= block.asked;
  page.taken -= block.granules;

  Block* const previous = block.previous;
  Block* const next = block.next;
  const bool joins_next = next != nullptr && next->state == BlockState::free;
  if (previous != nullptr && previous->state == BlockState::free) {
    std::uint64_t granules = previous->granules + block.granules;
    if (joins_next) {
      granules += next->granules;
      if (!page.hidden) index_.remove(*next);
      forget(*next);
    }
    forget(block);
    set_free_size(*previous, granules);
  } else if (joins_next) {
    next->begin = block.begin;
    const std::uint64_t granules = next->granules + block.granules;
    forget(block);
    set_free_size(*next, granules);
  } else {
    block.state = BlockState::free;
    block.slice = nullptr;
    if (!page.hidden) index_.insert(block);
  }
  if (page.taken == 0 && plan_.shares_pages) store_.offer(page);
}

void Pool::leak(Block& block) noexcept {
  block.state = BlockState::leaked;
  block.slice = nullptr;
  ++block.page->leaked;
}

Result<Block*> Pool::grow(std::uint64_t bytes) {
  const std::uint64_t granules = store_.granules_of(bytes);
  largest_ = std::max(largest_, granules);
  PageRequest page = request(granules);
  if (plan_.capacity != 0) {
    const std::uint64_t room = (plan_.capacity - std::min(plan_.capacity, reserved_)) / store_.granule();
    if (page.least > room) {
      return Error(ErrorCode::pool_capacity_exceeded,
                   "A request of " + std::to_string(bytes) + " bytes needs another page of memory pool \"" +
                       plan_.name + "\", which has " + std::to_string(reserved_) + " bytes of at most " +
                       std::to_string(plan_.capacity) + "; free some, or raise the pool's capacity.")
          .with_limit(reserved_ + store_.bytes_of(page.least), plan_.capacity);
    }
    page.wanted = page.wanted > room ? page.least : page.wanted;
    page.most = std::min(page.most, room);
  }
  BACKPLANE_TRY(Page* const taken, store_.take(page));
  attach(*taken);
  return place(*taken->first, granules, bytes);
}

void Pool::attach(Page& page) {
  const bool by_size = plan_.kind == MemoryPoolKind::adaptive;
  const std::uint64_t octave = by_size ? std::bit_width(page.granules) : 0;
  auto counts = std::ranges::find(counts_, octave, &PoolCounts::octave);
  if (counts == counts_.end()) {
    counts_.push_back({.octave = octave, .page_size = plan_.page_size});
    counts = std::prev(counts_.end());
  }
  if (by_size) counts->page_size = std::max(counts->page_size, page.storage.size);
  counts->reserved += page.storage.size;
  counts->peak_reserved = std::max(counts->peak_reserved, counts->reserved);
  page.counts = &*counts;
  reserved_ += page.storage.size;

  page.pool = this;
  page.previous_page = nullptr;
  page.next_page = pages_;
  if (pages_ != nullptr) pages_->previous_page = &page;
  pages_ = &page;
  index_.insert(*page.first);
}

void Pool::detach(Page& page) noexcept {
  if (!page.hidden) index_.remove(*page.first);
  page.hidden = false;
  page.counts->reserved -= page.storage.size;
  reserved_ -= page.storage.size;
  (page.previous_page == nullptr ? pages_ : page.previous_page->next_page) = page.next_page;
  if (page.next_page != nullptr) page.next_page->previous_page = page.previous_page;
  page.pool = nullptr;
}

void Pool::hide(Page& page) noexcept {
  if (page.hidden) return;
  page.hidden = true;
  for (Block* block = page.first; block != nullptr; block = block->next) {
    if (block->state == BlockState::free) index_.remove(*block);
  }
}

void Pool::show(Page& page) noexcept {
  if (!page.hidden) return;
  page.hidden = false;
  for (Block* block = page.first; block != nullptr; block = block->next) {
    if (block->state == BlockState::free) index_.insert(*block);
  }
}

MemoryUsage Pool::usage_of(const PoolCounts& counts) const noexcept {
  std::uint64_t taken = 0;
  for_each_page([&](const Page& page) {
    if (page.counts == &counts) taken += page.taken;
  });
  return {counts.slices, counts.in_use, store_.bytes_of(taken) - counts.in_use, counts.reserved};
}

MemoryUsage Pool::usage() const noexcept {
  MemoryUsage sum;
  for (const PoolCounts& counts : counts_) {
    const MemoryUsage usage = usage_of(counts);
    sum.allocation_count += usage.allocation_count;
    sum.bytes_in_use += usage.bytes_in_use;
    sum.bytes_padding += usage.bytes_padding;
    sum.bytes_reserved += usage.bytes_reserved;
  }
  return sum;
}

void Pool::report(std::vector<MemoryPoolReport>& reports) const {
  const auto add = [&](const PoolCounts& counts) {
    reports.push_back({plan_.name, plan_.kind, counts.page_size, plan_.capacity, usage_of(counts),
                       counts.peak_in_use, counts.peak_reserved});
  };
  if (counts_.empty()) add({.page_size = plan_.page_size});
  const std::size_t before = reports.size();
  std::ranges::for_each(counts_, add);
  std::ranges::sort(reports.begin() + static_cast<std::ptrdiff_t>(before), reports.end(), {},
                    &MemoryPoolReport::page_size);
}

}  // namespace backplane::toolkit
