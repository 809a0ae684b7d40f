#include "storage.h"

#include <algorithm>
#include <new>
#include <string>

namespace backplane::cpu {
namespace {

constexpr std::align_val_t kAlignment{Bytes::kAlignment};

Result<std::unique_ptr<std::byte, void (*)(std::byte*)>> reserve(const Allocation& allocation,
                                                                 const StorageLimits& limits,
                                                                 std::uint64_t in_use) {
  const std::string what =
      "Buffer \"" + allocation.label() + "\" of " + std::to_string(allocation.size()) + " bytes";
  if (allocation.size() > limits.allocation_bytes) {
    return Error(ErrorCode::buffer_too_big, what + " exceeds the device's limit of " +
                                                std::to_string(limits.allocation_bytes) +
                                                " bytes for one allocation.")
        .with_limit(allocation.size(), limits.allocation_bytes);
  }
  if (limits.total_bytes != 0 &&
      allocation.size() > limits.total_bytes - std::min(in_use, limits.total_bytes)) {
    return Error(ErrorCode::out_of_memory, what + " does not fit beside the " + std::to_string(in_use) +
                                               " bytes in use within memory.limit, " +
                                               std::to_string(limits.total_bytes) +
                                               " bytes; free some and retry.")
        .with_limit(in_use + allocation.size(), limits.total_bytes);
  }
  auto* data = static_cast<std::byte*>(::operator new(allocation.size(), kAlignment, std::nothrow));
  if (data == nullptr) {
    return Error(ErrorCode::out_of_memory,
                 what + " cannot be allocated: the host has no memory left; free some and retry.");
  }
  return std::unique_ptr<std::byte, void (*)(std::byte*)>(
      data, [](std::byte* memory) { ::operator delete(memory, kAlignment); });
}

}  // namespace

Result<void> Storage::allocate(Allocation& allocation, toolkit::TrackedMemory tracked) {
  Block& block = blocks_[&allocation];
  block.tracked = std::move(tracked);
  allocation.server_slot = reinterpret_cast<std::uintptr_t>(&block);

  auto data = reserve(allocation, limits_, usage_.bytes_in_use);
  if (!data) {
    block.failure = data.error();
    return std::move(data).error();
  }
  block.data = *std::move(data);
  ++usage_.allocation_count;
  usage_.bytes_in_use += allocation.size();
  usage_.bytes_reserved = usage_.bytes_in_use;
  peak_bytes_ = std::max(peak_bytes_, usage_.bytes_in_use);
  return {};
}

void Storage::release(Allocation& allocation) noexcept {
  const auto node = blocks_.extract(&allocation);
  allocation.server_slot = 0;
  if (node.empty() || node.mapped().data == nullptr) return;
  --usage_.allocation_count;
  usage_.bytes_in_use -= allocation.size();
  usage_.bytes_reserved = usage_.bytes_in_use;
}

Block& Storage::block(const Allocation& allocation) noexcept {
  return *reinterpret_cast<Block*>(allocation.server_slot);  // NOLINT(*-int-to-ptr): set by `allocate`
}

}  // namespace backplane::cpu
