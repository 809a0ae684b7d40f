#include "best_fit.h"

#include <algorithm>
#include <iterator>

namespace backplane::bench {
namespace {

constexpr std::uint64_t kGranule = 256;
constexpr std::uint64_t kSmallestPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kGap = kGranule;  // between pages, which are not neighbours

}  // namespace

std::uint64_t OrderedBestFit::reserve(std::uint64_t size) {
  size = (size + kGranule - 1) / kGranule * kGranule;
  auto best = free_.lower_bound({size, 0});
  if (best == free_.end()) {
    grow(size);
    best = free_.lower_bound({size, 0});
  }
  const auto [found, address] = *best;
  free_.erase(best);
  blocks_[address] = {size, false};
  if (found > size) {
    blocks_[address + size] = {found - size, true};
    free_.emplace(found - size, address + size);
  }
  return address;
}

void OrderedBestFit::free(std::uint64_t address) {
  auto block = blocks_.find(address);
  block->second.free = true;
  const auto next = std::next(block);
  if (next != blocks_.end() && next->second.free && block->first + block->second.size == next->first) {
    free_.erase({next->second.size, next->first});
    block->second.size += next->second.size;
    blocks_.erase(next);
  }
  if (block != blocks_.begin()) {
    const auto previous = std::prev(block);
    if (previous->second.free && previous->first + previous->second.size == block->first) {
      free_.erase({previous->second.size, previous->first});
      previous->second.size += block->second.size;
      blocks_.erase(block);
      block = previous;
    }
  }
  free_.emplace(block->second.size, block->first);
}

void OrderedBestFit::grow(std::uint64_t size) {
  const std::uint64_t share = reserved_ / 8 / kGranule * kGranule;
  const std::uint64_t page = std::max({size, share, kSmallestPage});
  blocks_[next_page_] = {page, true};
  free_.emplace(page, next_page_);
  next_page_ += page + kGap;
  reserved_ += page;
}

}  // namespace backplane::bench
