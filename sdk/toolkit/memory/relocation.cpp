#include <algorithm>
#include <unordered_set>
#include <vector>

#include <backplane/toolkit/memory_management.h>

#include "management_state.h"

namespace backplane::toolkit {
namespace {

/// A page of which less than a quarter is taken, or with less than a quarter of the size that pages have now,
/// costs more than moving what is on it.
constexpr std::uint64_t kWorthKeeping = 4;

/// Slices on their way from one page to others of a pool. Until `commit` they are where they were; what was
/// set aside for them is given back by `abandon`.
class Relocation {
 public:
  explicit Relocation(Pool& pool) : pool_(pool) { plan(); }

  struct Move {
    Slice* slice;
    Block* to;
  };

  [[nodiscard]] const std::vector<Move>& moves() const noexcept { return moves_; }
  [[nodiscard]] Placement destination(const Move& move) const noexcept {
    return {move.to->page->storage.id, pool_.store().bytes_of(move.to->begin)};
  }

  /// `written`: whether the device may still write to where the slices were to go.
  void abandon(bool written) {
    for (const Move& move : moves_) written ? pool_.leak(*move.to) : pool_.release(*move.to);
    for (Page* const page : emptied_) pool_.show(*page);
  }

  void commit(RelocationOutcome& outcome) {
    for (const Move& move : moves_) {
      Block* const from = move.slice->block;
      move.slice->place = destination(move);
      move.slice->block = move.to;
      move.slice->stream = pool_.stream();
      move.to->slice = move.slice;
      pool_.release(*from);
      outcome.bytes += move.slice->size;
    }
    for (Page* const page : emptied_) pool_.show(*page);
    outcome.slices += moves_.size();
    outcome.pages += emptied_.size();
  }

 private:
  [[nodiscard]] bool worth_emptying(const Page& page) const {
    if (page.idle() || page.guards != 0) return false;
    const bool sparse = page.taken * kWorthKeeping <= page.granules;
    const bool outdated =
        pool_.plan().page_size == 0 && page.storage.size * kWorthKeeping <= pool_.current_page_size();
    if (!sparse && !outdated) return false;
    for (const Block* block = page.first; block != nullptr; block = block->next) {
      const bool movable = block->state == BlockState::used && block->slice != nullptr;
      if (block->state != BlockState::free && !movable) return false;
    }
    return true;
  }

  void plan() {
    std::vector<Page*> pages;
    pool_.for_each_page([&](Page& page) {
      if (worth_emptying(page)) pages.push_back(&page);
    });
    std::ranges::sort(pages, {}, &Page::taken);
    std::unordered_set<const Page*> receivers;
    for (Page* const page : pages) {
      if (!receivers.contains(page) && plan_page(*page)) {
        for (const Move& move : moves_) receivers.insert(move.to->page);
      }
    }
  }

  /// Sets room aside for all that lives on the page, or for none of it.
  bool plan_page(Page& page) {
    const std::size_t before = moves_.size();
    pool_.hide(page);
    for (Block* block = page.first; block != nullptr; block = block->next) {
      if (block->state == BlockState::free) continue;
      Block* const to = pool_.reserve(block->asked);
      if (to == nullptr) {
        for (std::size_t i = before; i < moves_.size(); ++i) pool_.release(*moves_[i].to);
        moves_.resize(before);
        pool_.show(page);
        return false;
      }
      moves_.push_back({block->slice, to});
    }
    emptied_.push_back(&page);
    return true;
  }

  Pool& pool_;
  std::vector<Move> moves_;
  std::vector<Page*> emptied_;
};

Result<void> copy_all(const Relocation& relocation, StreamId stream, IDeviceProgress& progress,
                      const MemoryManagement::Copy& copy) {
  for (const Relocation::Move& move : relocation.moves()) {
    const Slice& slice = *move.slice;
    if (slice.stream != stream) BACKPLANE_CHECK(progress.order(stream, slice.stream));
    BACKPLANE_CHECK(copy(slice.place, relocation.destination(move), slice.size, stream));
  }
  return {};
}

}  // namespace

Result<RelocationOutcome> MemoryManagement::relocate(StreamId stream, const Copy& copy) {
  RelocationOutcome outcome;
  Result<void> failure;
  find_stream(stream).for_each_pool([&](Pool& pool) {
    if (!failure || pool.plan().fit != Fit::split) return;
    if (pool.plan().kind == MemoryPoolKind::auxiliary) return;  // the server keeps places of its own
    Relocation relocation(pool);
    if (relocation.moves().empty()) return;
    failure = copy_all(relocation, stream, state_->progress, copy);
    const Fence fence = state_->progress.mark(stream);
    if (Result<void> waited = state_->progress.wait(fence); !waited) {
      relocation.abandon(!state_->progress.reached(fence));
      if (failure) failure = std::move(waited);
    } else if (!failure) {
      relocation.abandon(false);
    } else {
      relocation.commit(outcome);
    }
  });
  if (!failure) return std::move(failure).error();
  return outcome;
}

}  // namespace backplane::toolkit
