#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include <backplane/contract/id.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>
#include <backplane/toolkit/device_progress.h>
#include <backplane/toolkit/failures.h>
#include <backplane/toolkit/page_guard.h>
#include <backplane/toolkit/slice.h>
#include <backplane/toolkit/storage.h>

namespace backplane::toolkit {

class StreamMemory;

/// How a device's memory is managed.
struct MemoryOptions {
  /// Most bytes to reserve on the device; 0 for as many as the storage has.
  std::uint64_t limit = 0;

  /// Asked when a request of this many bytes cannot be served otherwise. Whoever answers true has dropped
  /// handles, or freed memory elsewhere, and the request is tried once more. Called on the server's thread,
  /// inside `reserve`; it may call `cleanup`, nothing else of memory management.
  std::function<bool(std::uint64_t bytes)> out_of_memory{};

  /// How many reservations of a stream go between two of its periodic cleanups.
  std::uint32_t cleanup_period = 4096;
};

/// What `MemoryManagement::relocate` did.
struct RelocationOutcome {
  std::size_t slices = 0;   ///< Moved.
  std::uint64_t bytes = 0;  ///< Copied.
  std::size_t pages = 0;    ///< Emptied.
};

/// The memory of one device: pools for each stream, over pages that the streams share. Reserving and freeing
/// take constant time. Handles are dropped by any thread, and noticed at the next reserve or cleanup.
/// Everything here is called on one thread, the server's. Sizes and offsets are in bytes.
class MemoryManagement {
 public:
  /// Everything passed in outlives the object. `dropped` is the list of the server's utilities.
  MemoryManagement(IStorage& storage, IDeviceProgress& progress, Failures& failures,
                   std::shared_ptr<DroppedAllocations> dropped, MemoryOptions options = {});
  MemoryManagement(const MemoryManagement&) = delete;
  MemoryManagement& operator=(const MemoryManagement&) = delete;

  /// Waits for the device and releases everything, live or not. What the device may still use is leaked.
  ~MemoryManagement();

  /// Gives an allocation its memory, which `slice_of` finds from then on; on an error too, where the slice
  /// holds the error and no memory. Once for an allocation. Takes back what was dropped first. Where there is
  /// no room, frees what can be freed, which may wait for the device, and tries once more. Errors:
  /// `buffer_too_big` over the limit of the device or its memory; `page_sizes_exhausted` where no pool takes
  /// requests of this size; `pool_capacity_exceeded`; `out_of_memory`.
  Result<Slice*> reserve(Allocation& allocation, std::uint64_t size, StreamId stream);

  /// Memory for the server's own needs on `stream`; it is not counted among the allocations. Errors: as
  /// `reserve`.
  Result<Slice*> reserve_auxiliary(std::uint64_t size, StreamId stream);

  /// Frees it.
  void release_auxiliary(Slice& slice) noexcept;

  /// Takes back the memory of every allocation whose last handle is gone, and what is known of its failures.
  /// Where another stream used it last, it is there again when that stream has passed this point.
  void drain_dropped();

  /// How allocations on `stream` are placed from now on.
  void allocation_mode(MemoryAllocationMode mode, StreamId stream);

  /// Replaces the pools of `stream`, and is what streams made from now on get. Errors: `validation` for an
  /// invalid layout, and nothing changes; `pools_in_use` where something is live in the stream's pools, and
  /// the stream keeps them. Persistent and auxiliary memory does not count.
  Result<void> install_pools(const MemoryConfiguration& configuration, StreamId stream);

  /// Gives back every idle page of `stream`, and those that are nobody's, whatever its pool keeps them for
  /// otherwise; drops what was dropped first. Waits for the device.
  void cleanup(StreamId stream);

  [[nodiscard]] MemoryUsage usage(StreamId stream) const;

  /// The pools in routing order, then persistent, then auxiliary; an adaptive pool once for each page size.
  [[nodiscard]] MemoryReport report(StreamId stream) const;

  /// Keeps a slice where it is for as long as it lives.
  void pin(Slice& slice);

  /// Keeps the page of a slice for as long as the guard lives, even if the slice does not.
  [[nodiscard]] PageGuard guard(const Slice& slice);

  /// Enqueues a copy of `bytes` bytes on `stream`.
  using Copy = std::function<Result<void>(const Placement& from, const Placement& to, std::uint64_t bytes,
                                          StreamId stream)>;

  /// Empties pages of `stream` that are sparse, or much smaller than the pages it takes now, by moving what
  /// lives there to room it has elsewhere; takes no new pages. Waits for the copies. If a copy or the wait
  /// fails, everything stays where it was and the error is returned.
  Result<RelocationOutcome> relocate(StreamId stream, const Copy& copy);

  /// Bytes the storage gave for all streams: now, and at most.
  [[nodiscard]] std::uint64_t reserved() const noexcept;
  [[nodiscard]] std::uint64_t peak_reserved() const noexcept;

 private:
  struct State;

  void keep_up(StreamMemory& memory);
  void attach(Slice& slice, Block& block) const noexcept;
  Result<Slice*> place_slowly(Slice& slice, StreamMemory& memory, bool auxiliary);
  Result<Slice*> place(Slice& slice, StreamMemory& memory, bool auxiliary);
  Result<Block*> reserve_slowly(StreamMemory& memory, std::uint64_t size, bool auxiliary);
  Result<void> check_size(std::uint64_t size) const;
  Result<Block*> reserve_reclaiming(StreamMemory& memory, std::uint64_t size, bool auxiliary);
  void release_idle_pages();
  void free(Slice& slice) noexcept;
  StreamMemory& stream_memory(StreamId stream);
  StreamMemory& find_stream(StreamId stream);

  std::unique_ptr<State> state_;
};

}  // namespace backplane::toolkit
