#pragma once

#include <cstdint>
#include <memory>

#include <backplane/toolkit.h>

namespace backplane::bench {

/// Storage of a device that costs nothing and never runs out, for what is on top of it to be measured.
class NullStorage final : public toolkit::IStorage {
 public:
  Result<toolkit::StorageBlock> allocate(std::uint64_t size) override {
    return toolkit::StorageBlock{{++last_}, size};
  }
  void release(toolkit::StorageId /*block*/) noexcept override {}
  [[nodiscard]] std::uint64_t alignment() const noexcept override { return 256; }
  [[nodiscard]] std::uint64_t largest_block() const noexcept override { return std::uint64_t{1} << 40; }

 private:
  std::uint64_t last_ = 0;
};

/// Memory management with nothing below it.
struct TestBed {
  NullStorage storage;
  toolkit::SynchronousProgress progress;
  toolkit::Failures failures;
  std::shared_ptr<DroppedAllocations> dropped = std::make_shared<DroppedAllocations>();
  toolkit::MemoryManagement management{storage, progress, failures, dropped};
};

}  // namespace backplane::bench
