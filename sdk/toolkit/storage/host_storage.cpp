#include <new>
#include <string>

#include <backplane/toolkit/host_storage.h>

namespace backplane::toolkit {

void HostStorage::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, std::align_val_t{kAlignment});
}

Result<StorageBlock> HostStorage::allocate(std::uint64_t size) {
  if (size > largest_block_) {
    return Error(ErrorCode::buffer_too_big, "A block of " + std::to_string(size) +
                                                " bytes exceeds the limit of " +
                                                std::to_string(largest_block_) + " bytes for one block.")
        .with_limit(size, largest_block_);
  }
  std::unique_ptr<std::byte, Free> memory(
      static_cast<std::byte*>(::operator new(size, std::align_val_t{kAlignment}, std::nothrow)));
  if (memory == nullptr) {
    return Error(ErrorCode::out_of_memory,
                 "The host has no " + std::to_string(size) + " bytes of memory left; free some and retry.");
  }
  if (unused_.empty()) {
    blocks_.emplace_back();
    unused_.reserve(blocks_.capacity());  // so that `release` need not allocate
    unused_.push_back({blocks_.size()});
  }
  const StorageId id = unused_.back();
  unused_.pop_back();
  blocks_[id.value - 1] = std::move(memory);
  return StorageBlock{id, size};
}

void HostStorage::release(StorageId block) noexcept {
  blocks_[block.value - 1].reset();
  unused_.push_back(block);
}

}  // namespace backplane::toolkit
