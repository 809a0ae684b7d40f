#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <backplane/toolkit/device_progress.h>
#include <backplane/toolkit/host_storage.h>
#include <backplane/toolkit/memory_management.h>

namespace backplane::toolkit {

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;
inline constexpr StreamId kStream{1};
inline constexpr StreamId kOther{2};

/// Storage that counts, and fails when told to. With `backed` it is real memory.
class TestStorage final : public IStorage {
 public:
  explicit TestStorage(std::uint64_t largest = 1024 * kMiB, bool backed = false)
      : host(largest), largest_(largest), backed_(backed) {}

  Result<StorageBlock> allocate(std::uint64_t size) override {
    ++asked;
    if (asked == fail_at || in_use + size > capacity) {
      ++failures;
      return Error(ErrorCode::out_of_memory, "The test has no memory left.");
    }
    StorageBlock block{{++last_}, size};
    if (backed_) {
      BACKPLANE_TRY(block, host.allocate(size));
    }
    sizes[block.id] = size;
    in_use += size;
    return block;
  }

  void release(StorageId block) noexcept override {
    ++released;
    in_use -= sizes.at(block);
    sizes.erase(block);
    if (backed_) host.release(block);
  }

  [[nodiscard]] std::uint64_t alignment() const noexcept override { return 256; }
  [[nodiscard]] std::uint64_t largest_block() const noexcept override { return largest_; }
  [[nodiscard]] std::byte* data(const Placement& place) const {
    return host.data(place.storage) + place.offset;
  }

  HostStorage host;
  std::map<StorageId, std::uint64_t> sizes;
  std::uint64_t in_use = 0;
  std::uint64_t capacity = ~std::uint64_t{0};
  std::uint64_t asked = 0;
  std::uint64_t fail_at = 0;  // which request, from 1
  std::uint64_t failures = 0;
  std::uint64_t released = 0;

 private:
  std::uint64_t largest_;
  bool backed_;
  std::uint64_t last_ = 0;
};

/// A device that is done with work when the test says so.
class TestProgress final : public IDeviceProgress {
 public:
  Fence mark(StreamId stream) override { return {stream, ++marked[stream]}; }
  bool reached(const Fence& fence) override { return at_once || done[fence.stream] >= fence.value; }
  Result<void> wait(const Fence& fence) override {
    ++waits;
    if (broken) return Error(ErrorCode::io_unknown, "The test lost the device.");
    done[fence.stream] = std::max(done[fence.stream], fence.value);
    return {};
  }
  Result<void> order(StreamId waiter, StreamId owner) override {
    if (broken) return Error(ErrorCode::io_unknown, "The test lost the device.");
    orders.emplace_back(waiter, owner);
    return {};
  }
  void finish(StreamId stream) { done[stream] = marked[stream]; }

  std::map<StreamId, std::uint64_t> marked;
  std::map<StreamId, std::uint64_t> done;
  std::vector<std::pair<StreamId, StreamId>> orders;
  std::uint64_t waits = 0;
  bool at_once = false;
  bool broken = false;
};

/// Memory management over test storage, and the handles a client would have.
struct TestMemory {
  explicit TestMemory(std::uint64_t largest = 1024 * kMiB, MemoryOptions options = {}, bool backed = false)
      : storage(largest, backed), management(std::in_place, storage, progress, failures, dropped, options) {}

  /// An allocation; its slice tells whether it has memory.
  ManagedMemory reserve(std::uint64_t size, StreamId stream = kStream) {
    ManagedMemory memory = ManagedMemory::create(size, "test", dropped);
    static_cast<void>(management->reserve(*memory.get(), size, stream));
    return memory;
  }

  /// The same, but only the error; `none` if there is no error.
  ErrorCode reserve_error(std::uint64_t size, StreamId stream = kStream) {
    const ManagedMemory memory = reserve(size, stream);
    const Slice& slice = slice_of(*memory.get());
    return slice.backing ? ErrorCode::none : slice.backing.error().code();
  }

  Result<void> install(std::vector<MemoryPoolOptions> pools, StreamId stream = kStream) {
    return management->install_pools({MemoryPreset::custom, std::move(pools)}, stream);
  }

  TestStorage storage;
  TestProgress progress;
  Failures failures;
  std::shared_ptr<DroppedAllocations> dropped = std::make_shared<DroppedAllocations>();
  std::optional<MemoryManagement> management;
};

inline Slice& slice(const ManagedMemory& memory) {
  return slice_of(*memory.get());
}

}  // namespace backplane::toolkit
