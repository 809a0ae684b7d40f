#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <backplane/contract/result.h>
#include <backplane/toolkit/device_progress.h>
#include <backplane/toolkit/storage.h>

#include "page.h"
#include "size_class_index.h"
#include "slab.h"

namespace backplane::toolkit {

/// A page that a pool needs, in granules.
struct PageRequest {
  StreamId stream;
  std::uint64_t least;   ///< Too small a page is of no use,
  std::uint64_t wanted;  ///< this is what a new one has where there is room,
  std::uint64_t most;    ///< and an idle one that is larger stays where it is.
};

/// The pages of one device, shared by the pools of all its streams: whoever is short takes what is idle,
/// whosever it was, before the storage is asked. One thread, the server's.
class PageStore {
 public:
  /// `limit` is the most bytes to have at once; 0 for no limit but the storage's.
  PageStore(IStorage& storage, IDeviceProgress& progress, std::uint64_t limit);
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  /// An idle page, ordered behind its last use, or a new one; it is nobody's and one free block. Errors:
  /// `out_of_memory`, `buffer_too_big`.
  Result<Page*> take(const PageRequest& request);

  /// An idle page may be taken by any stream from now on; guarded ones are left alone.
  void offer(Page& page) noexcept;
  void withdraw(Page& page) noexcept;

  /// Takes an idle page from its pool; it is nobody's, and offered.
  void disown(Page& page) noexcept;

  /// Keeps a page where it is, until as many `unguard`.
  void guard(Page& page) noexcept;
  void unguard(Page& page) noexcept;

  /// Pages that are offered and that `choose` is true for.
  template <class Choose>
  [[nodiscard]] std::vector<Page*> offered(Choose&& choose) const {
    std::vector<Page*> pages;
    idle_.for_each([&](Page& page) {
      if (choose(page)) pages.push_back(&page);
    });
    return pages;
  }

  /// Gives idle, unguarded pages back to the storage when the device is done with them; waits for it. Pages
  /// whose wait failed are leaked: no longer anyone's, and never released. Returns the bytes given back.
  std::uint64_t release(std::span<Page* const> pages);

  /// The same for pages that the device is known to be done with. Does not wait.
  std::uint64_t release_done(std::span<Page* const> pages) noexcept;

  /// The end of a page of a pool that is going away, whatever lives on it. It is leaked unless the device is
  /// known to be done with it.
  void close(Page& page, bool done) noexcept;

  /// Bytes that places and sizes on pages are multiples of.
  [[nodiscard]] std::uint64_t granule() const noexcept { return std::uint64_t{1} << granule_shift_; }
  [[nodiscard]] std::uint64_t granules_of(std::uint64_t bytes) const noexcept {
    return (bytes + granule() - 1) >> granule_shift_;
  }
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t granules) const noexcept {
    return granules << granule_shift_;
  }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t reserved() const noexcept { return reserved_; }
  [[nodiscard]] std::uint64_t peak_reserved() const noexcept { return peak_reserved_; }
  [[nodiscard]] std::uint64_t leaked() const noexcept { return leaked_; }
  [[nodiscard]] std::uint64_t largest_block() const noexcept { return largest_block_; }
  [[nodiscard]] IDeviceProgress& progress() noexcept { return progress_; }

  Slab<Block>& blocks() noexcept { return blocks_; }

 private:
  Page* take_idle(const PageRequest& request);
  Result<Page*> allocate(const PageRequest& request);

  IStorage& storage_;
  IDeviceProgress& progress_;
  unsigned granule_shift_;
  std::uint64_t limit_;
  std::uint64_t largest_block_;
  std::uint64_t reserved_ = 0;  // bytes, as are the others
  std::uint64_t peak_reserved_ = 0;
  std::uint64_t leaked_ = 0;
  SizeClassIndex<Page> idle_;
  Slab<Page> pages_;
  Slab<Block> blocks_;
};

}  // namespace backplane::toolkit
