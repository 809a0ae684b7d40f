#pragma once

#include <cstdint>

#include <backplane/contract/id.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>
#include <backplane/toolkit/failures.h>
#include <backplane/toolkit/storage.h>

namespace backplane::toolkit {

struct Block;

/// Where memory is: a range of a storage's block.
struct Placement {
  StorageId storage;         ///< 0 where there is no memory: an allocation of no bytes, or one that failed.
  std::uint64_t offset = 0;  ///< Bytes from the start of the storage's block.

  friend bool operator==(const Placement&, const Placement&) = default;
};

/// The memory of one allocation, and what its server knows of it. Its address does not change while the
/// allocation lives; its placement does, between calls, unless it is pinned. One thread, the server's.
struct Slice {
  Placement place{};
  std::uint64_t size = 0;  ///< Bytes asked for.

  /// The stream that used it last. Whoever uses it on another has that one run after this, and sets it: the
  /// last user's order covers all earlier ones.
  StreamId stream{};

  TrackedMemory tracked{};

  /// Success, or why there is no memory.
  Result<void> backing{};

  Block* block = nullptr;  ///< Memory management's own.
  bool pinned = false;     ///< Neither moves nor lets go of its page; see `MemoryManagement::pin`.
};

/// The slice of an allocation that `MemoryManagement::reserve` was called for.
[[nodiscard]] inline Slice& slice_of(const Allocation& allocation) noexcept {
  // NOLINTNEXTLINE(*-int-to-ptr): what `reserve` put there
  return *reinterpret_cast<Slice*>(static_cast<std::uintptr_t>(allocation.server_slot));
}

}  // namespace backplane::toolkit
