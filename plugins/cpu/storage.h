#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include <backplane/toolkit.h>

namespace backplane::cpu {

/// Memory behind one allocation, and what is known of it.
struct Block {
  std::unique_ptr<std::byte, void (*)(std::byte*)> data{nullptr, nullptr};
  toolkit::TrackedMemory tracked;
  std::optional<Error> failure;  ///< Why there is no memory.
};

/// What the storage may hand out, in bytes.
struct StorageLimits {
  std::uint64_t allocation_bytes;  ///< By one allocation.
  std::uint64_t total_bytes;       ///< By all together; 0 for as much as there is.
};

/// The memory of the cpu device: one aligned block of host memory an allocation. One thread, the server's.
class Storage {
 public:
  explicit Storage(StorageLimits limits) : limits_(limits) {}

  /// Gives an allocation its block. Errors: `buffer_too_big`, `out_of_memory`; also recorded in the block.
  Result<void> allocate(Allocation& allocation, toolkit::TrackedMemory tracked);

  /// Takes its block back.
  void release(Allocation& allocation) noexcept;

  /// The block of an allocation that `allocate` was called for.
  [[nodiscard]] static Block& block(const Allocation& allocation) noexcept;

  [[nodiscard]] const MemoryUsage& usage() const noexcept { return usage_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }

 private:
  StorageLimits limits_;
  std::unordered_map<const Allocation*, Block> blocks_;  // `Allocation::server_slot` points into it
  MemoryUsage usage_;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace backplane::cpu
