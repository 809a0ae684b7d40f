#include "pool.h"

#include <algorithm>
#include <bit>

namespace backplane::toolkit {
namespace {

constexpr std::uint64_t kSmallestPage = std::uint64_t{2} << 20;  // bytes; what drivers hand out anyway
constexpr unsigned kGrowthShift = 3;     // a page that is not needed for its size adds at most an eighth
constexpr unsigned kRoundingShift = 7;   // a page has the size of its request to within 1 %
constexpr unsigned kExclusiveShift = 3;  // and where it is a request's own, to within an eighth

/// `granules` rounded up to a multiple of the power of two that is at most a 2^shift-th of it.
std::uint64_t round_up(std::uint64_t granules, unsigned shift) {
  const std::uint64_t step = std::bit_floor(std::max<std::uint64_t>(granules >> shift, 1));
  return (granules + step - 1) & ~(step - 1);
}

}  // namespace

Block* Pool::find(std::uint64_t granules, unsigned looks) const noexcept {
  if (plan_.fit == Fit::split) return index_.find(granules, looks);
  if (plan_.fit == Fit::exact) return index_.find_exactly(granules);
  Block* const block = index_.find(granules, looks);
  return block == nullptr || block->granules > request(granules).most ? nullptr : block;
}

PageRequest Pool::request(std::uint64_t granules) const noexcept {
  const std::uint64_t page = granules_of(plan_.page_size);
  if (plan_.fit == Fit::exact) return {stream_, granules, granules, granules};
  if (plan_.fit == Fit::whole) {
    if (page != 0) return {stream_, page, page, page};
    const bool rounds = plan_.kind == MemoryPoolKind::exclusive;
    const std::uint64_t wanted = rounds ? round_up(granules, kExclusiveShift) : granules;
    return {stream_, granules, wanted, granules + (granules >> (kExclusiveShift - 1))};
  }
  if (page != 0) {
    const std::uint64_t wanted = std::max(page, granules);
    return {stream_, granules, wanted, 4 * wanted};
  }
  const std::uint64_t usual = granules_of(current_page_size());
  return {stream_, granules, std::max(usual, round_up(granules, kRoundingShift)), ~std::uint64_t{0}};
}

std::uint64_t Pool::current_page_size() const noexcept {
  if (plan_.page_size != 0) return plan_.page_size;
  const std::uint64_t largest = round_up(largest_, kRoundingShift) * store_.granule();
  return std::max(kSmallestPage, std::min(largest, reserved_ >> kGrowthShift));
}

Block* Pool::place(Block& block, std::uint64_t granules, std::uint64_t bytes) noexcept {
  Page& page = *block.page;
  if (!page.hidden) index_.remove(block);
  if (page.offered) store_.withdraw(page);
  if (plan_.fit == Fit::split && block.granules > granules) {
    Block* const rest =
        store_.blocks().create(&page, block.begin + granules, block.granules - granules, &block, block.next);
    if (block.next != nullptr) block.next->previous = rest;
    block.next = rest;
    block.granules = granules;
    index_.insert(*rest);
  }
  block.state = BlockState::used;
  block.asked = bytes;
  page.taken += block.granules;
  if (granules > largest_) largest_ = granules;

  PageSizeUsage& size = sizes_[page.size_row];
  ++size.usage.allocation_count;
  size.usage.bytes_in_use += bytes;
  size.usage.bytes_padding += block.granules * store_.granule() - bytes;
  if (size.usage.bytes_in_use > size.peak_in_use) size.peak_in_use = size.usage.bytes_in_use;
  return &block;
}

void Pool::release(Block& block) noexcept {
  Page& page = *block.page;
  PageSizeUsage& size = sizes_[page.size_row];
  --size.usage.allocation_count;
  size.usage.bytes_in_use -= block.asked;
  size.usage.bytes_padding -= block.granules * store_.granule() - block.asked;
  page.taken -= block.granules;

  Block* whole = &block;
  whole->state = BlockState::free;
  whole->slice = nullptr;
  if (Block* const next = whole->next; next != nullptr && next->state == BlockState::free) {
    if (!page.hidden) index_.remove(*next);
    whole->granules += next->granules;
    whole->next = next->next;
    if (whole->next != nullptr) whole->next->previous = whole;
    store_.blocks().destroy(next);
  }
  if (Block* const previous = whole->previous; previous != nullptr && previous->state == BlockState::free) {
    if (!page.hidden) index_.remove(*previous);
    previous->granules += whole->granules;
    previous->next = whole->next;
    if (previous->next != nullptr) previous->next->previous = previous;
    store_.blocks().destroy(whole);
    whole = previous;
  }
  if (!page.hidden) index_.insert(*whole);
  if (page.idle() && plan_.shares_pages) store_.offer(page);
}

void Pool::leak(Block& block) noexcept {
  block.state = BlockState::leaked;
  block.slice = nullptr;
  ++block.page->leaked;
}

Result<Block*> Pool::grow(std::uint64_t bytes) {
  const std::uint64_t granules = granules_of(bytes);
  largest_ = std::max(largest_, granules);
  PageRequest page = request(granules);
  if (plan_.capacity != 0) {
    const std::uint64_t room = (plan_.capacity - std::min(plan_.capacity, reserved_)) / store_.granule();
    if (page.least > room) {
      return Error(ErrorCode::pool_capacity_exceeded,
                   "A request of " + std::to_string(bytes) + " bytes needs another page of memory pool \"" +
                       plan_.name + "\", which has " + std::to_string(reserved_) + " bytes of at most " +
                       std::to_string(plan_.capacity) + "; free some, or raise the pool's capacity.")
          .with_limit(reserved_ + page.least * store_.granule(), plan_.capacity);
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
  const auto row = std::ranges::find(sizes_, octave, &PageSizeUsage::octave);
  page.size_row = static_cast<std::size_t>(row - sizes_.begin());
  if (row == sizes_.end()) sizes_.push_back({.octave = octave, .page_size = plan_.page_size});
  PageSizeUsage& size = sizes_[page.size_row];
  if (by_size) size.page_size = std::max(size.page_size, page.storage.size);
  size.usage.bytes_reserved += page.storage.size;
  size.peak_reserved = std::max(size.peak_reserved, size.usage.bytes_reserved);
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
  sizes_[page.size_row].usage.bytes_reserved -= page.storage.size;
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

MemoryUsage Pool::usage() const noexcept {
  MemoryUsage sum;
  for (const PageSizeUsage& size : sizes_) {
    sum.allocation_count += size.usage.allocation_count;
    sum.bytes_in_use += size.usage.bytes_in_use;
    sum.bytes_padding += size.usage.bytes_padding;
    sum.bytes_reserved += size.usage.bytes_reserved;
  }
  return sum;
}

void Pool::report(std::vector<MemoryPoolReport>& reports) const {
  std::vector<PageSizeUsage> by_size = sizes_;
  if (by_size.empty()) by_size.push_back({.page_size = plan_.page_size});
  std::ranges::sort(by_size, {}, &PageSizeUsage::page_size);
  for (const PageSizeUsage& size : by_size) {
    reports.push_back({plan_.name, plan_.kind, size.page_size, plan_.capacity, size.usage, size.peak_in_use,
                       size.peak_reserved});
  }
}

}  // namespace backplane::toolkit
