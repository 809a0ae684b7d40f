#pragma once

#include <cstdint>

#include <backplane/contract/id.h>
#include <backplane/contract/result.h>

namespace backplane::toolkit {

/// A block of memory as the storage that gave it knows it; 0 is none.
using StorageId = Id<struct StorageTag>;

/// What a storage gave.
struct StorageBlock {
  StorageId id;
  std::uint64_t size = 0;  ///< Bytes, at least what was asked for.
};

/// Where memory comes from: a driver's allocator, pinned host memory, plain host memory. Everything above it
/// only ever names blocks and offsets, and asks the storage rarely. One thread, the server's.
class IStorage {
 public:
  virtual ~IStorage() = default;
  IStorage(const IStorage&) = delete;
  IStorage& operator=(const IStorage&) = delete;

  /// A new block of at least `size` bytes, which are more than 0; its first byte is aligned to `alignment()`.
  /// May block. Errors: `out_of_memory`, which is worth retrying when something was released;
  /// `buffer_too_big`.
  virtual Result<StorageBlock> allocate(std::uint64_t size) = 0;

  /// Gives a block back. Whoever calls has made sure that the device is done with it.
  virtual void release(StorageId block) noexcept = 0;

  /// Bytes; a power of two. Offsets that are multiples of it suit every use of the memory.
  [[nodiscard]] virtual std::uint64_t alignment() const noexcept = 0;

  /// The most bytes that one block may ever have.
  [[nodiscard]] virtual std::uint64_t largest_block() const noexcept = 0;

 protected:
  IStorage() = default;
};

}  // namespace backplane::toolkit
