#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <backplane/contract/bytes.h>
#include <backplane/toolkit/storage.h>

namespace backplane::toolkit {

/// Aligned memory of the host. One thread, the server's; the bytes themselves are for any.
class HostStorage final : public IStorage {
 public:
  static constexpr std::uint64_t kAlignment = Bytes::kAlignment;

  /// `largest_block` is the most bytes one block may have.
  explicit HostStorage(std::uint64_t largest_block) : largest_block_(largest_block) {}

  Result<StorageBlock> allocate(std::uint64_t size) override;
  void release(StorageId block) noexcept override;
  [[nodiscard]] std::uint64_t alignment() const noexcept override { return kAlignment; }
  [[nodiscard]] std::uint64_t largest_block() const noexcept override { return largest_block_; }

  /// The first byte of a block that is allocated.
  [[nodiscard]] std::byte* data(StorageId block) const noexcept { return blocks_[block.value - 1].get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };

  std::vector<std::unique_ptr<std::byte, Free>> blocks_;  // by id - 1
  std::vector<StorageId> unused_;
  std::uint64_t largest_block_;
};

}  // namespace backplane::toolkit
