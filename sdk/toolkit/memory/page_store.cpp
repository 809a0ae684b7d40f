#include "page_store.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "pool.h"

namespace backplane::toolkit {
namespace {

constexpr std::uint64_t kSmallestGranule = 64;  // bytes; a finer grain would cost more to keep than it saves

}  // namespace

PageStore::PageStore(IStorage& storage, IDeviceProgress& progress, std::uint64_t limit)
    : storage_(storage),
      progress_(progress),
      granule_shift_(
          static_cast<unsigned>(std::countr_zero(std::max(storage.alignment(), kSmallestGranule)))),
      limit_(limit),
      largest_block_(std::min(storage.largest_block(), bytes_of(kGranulesEnd - 1))) {
  if (limit_ != 0) largest_block_ = std::min(largest_block_, limit_);
}

Result<Page*> PageStore::take(const PageRequest& request) {
  if (Page* page = take_idle(request)) return page;
  return allocate(request);
}

Page* PageStore::take_idle(const PageRequest& request) {
  Page* page = idle_.find(request.wanted);
  if (page == nullptr || page->granules > request.most) page = idle_.find(request.least);
  if (page == nullptr || page->granules > request.most) return nullptr;
  // A page that cannot be ordered behind its last use stays where it is.
  if (page->stream != request.stream && !progress_.order(request.stream, page->stream)) return nullptr;
  if (page->pool != nullptr) page->pool->detach(*page);
  withdraw(*page);
  page->stream = request.stream;
  return page;
}

Result<Page*> PageStore::allocate(const PageRequest& request) {
  const std::uint64_t least = bytes_of(request.least);
  const std::uint64_t room = limit_ == 0 ? ~std::uint64_t{0} : limit_ - std::min(limit_, reserved_);
  std::uint64_t wanted = std::min(bytes_of(request.wanted), storage_.largest_block());
  if (wanted > room) wanted = least;
  if (wanted > room) {
    return Error(ErrorCode::out_of_memory, "A page of " + std::to_string(least) +
                                               " bytes does not fit: " + std::to_string(reserved_) +
                                               " bytes of the memory limit of " + std::to_string(limit_) +
                                               " bytes are reserved; free some and retry.")
        .with_limit(least, limit_);
  }
  Result<StorageBlock> block = storage_.allocate(wanted);
  if (!block && wanted > least) {
    wanted = least;
    block = storage_.allocate(wanted);
  }
  if (!block) return std::move(block).error();

  reserved_ += block->size;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  Page* const page = pages_.create();
  page->storage = *block;
  page->granules = std::min(block->size, wanted) >> granule_shift_;
  page->stream = request.stream;
  page->first = blocks_.create([&] { return Block{.page = page, .granules = page->granules}; });
  return page;
}

void PageStore::offer(Page& page) noexcept {
  if (page.offered || page.guards != 0) return;
  page.offered = true;
  idle_.insert(page);
}

void PageStore::withdraw(Page& page) noexcept {
  if (!page.offered) return;
  page.offered = false;
  page.idle_for = 0;
  idle_.remove(page);
}

void PageStore::disown(Page& page) noexcept {
  if (page.pool != nullptr) page.pool->detach(page);
  offer(page);
}

void PageStore::guard(Page& page) noexcept {
  ++page.guards;
  withdraw(page);
}

void PageStore::unguard(Page& page) noexcept {
  if (--page.guards == 0 && page.idle() && (page.pool == nullptr || page.pool->shares_pages())) offer(page);
}

std::uint64_t PageStore::release(std::span<Page* const> pages) {
  std::map<StreamId, bool> waited;
  std::vector<Page*> done;
  for (Page* const page : pages) {
    const auto [stream, is_new] = waited.try_emplace(page->stream, false);
    if (is_new) {
      const Fence fence = progress_.mark(page->stream);
      stream->second = progress_.wait(fence).has_value() || progress_.reached(fence);
    }
    if (stream->second) {
      done.push_back(page);
      continue;
    }
    if (page->pool != nullptr) page->pool->detach(*page);
    withdraw(*page);
    leaked_ += page->storage.size;
  }
  return release_done(done);
}

void PageStore::close(Page& page, bool done) noexcept {
  withdraw(page);
  if (done && page.leaked == 0) storage_.release(page.storage.id);
}

std::uint64_t PageStore::release_done(std::span<Page* const> pages) noexcept {
  std::uint64_t released = 0;
  for (Page* const page : pages) {
    if (page->pool != nullptr) page->pool->detach(*page);
    withdraw(*page);
    storage_.release(page->storage.id);
    reserved_ -= page->storage.size;
    released += page->storage.size;
    blocks_.destroy(page->first);
    pages_.destroy(page);
  }
  return released;
}

}  // namespace backplane::toolkit
