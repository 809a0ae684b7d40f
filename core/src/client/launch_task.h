#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <backplane/contract/server.h>

#include "compile/compile_path.h"

namespace backplane {

/// A range of an allocation that a queued task keeps alive.
struct BoundRange {
  ManagedMemory memory;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  BoundRange() = default;
  explicit BoundRange(const BufferBinding& binding)
      : memory(ManagedMemory::retain(binding.allocation)), offset(binding.offset), size(binding.size) {}

  [[nodiscard]] BufferBinding binding() const noexcept { return {memory.get(), offset, size}; }
};

/// Most buffers a kernel can have, whatever the device would take.
inline constexpr std::uint32_t kMaximumBindings = 64;

/// A launch on its way to the device's thread, with room for its arguments inside: nothing is allocated for
/// it.
template <std::size_t Buffers, std::size_t ScalarBytes>
class LaunchTask {
 public:
  LaunchTask(const CompiledKernel& kernel, const WorkgroupCount& count,
             std::span<const BufferBinding> buffers, std::span<const std::byte> scalars, StreamId stream)
      : kernel_(&kernel),
        stream_(stream),
        count_{count.x, count.y, count.z},
        buffer_count_(static_cast<std::uint16_t>(buffers.size())),
        scalar_bytes_(static_cast<std::uint16_t>(scalars.size())) {
    std::ranges::transform(buffers, buffers_.begin(), [](const BufferBinding& b) { return BoundRange(b); });
    std::ranges::copy(scalars, scalars_.begin());
    if (count.is_indirect()) indirect_ = BoundRange(count.indirect);
  }

  void operator()(IServer& server) {
    std::array<BufferBinding, Buffers> bindings;
    const std::span<const BufferBinding> buffers = bind(bindings);
    WorkgroupCount count{count_[0], count_[1], count_[2], {}};
    if (indirect_.memory) count.indirect = indirect_.binding();
    server.launch(kernel_->ref(), count,
                  {.buffers = buffers,
                   .scalars = std::span(scalars_).first(scalar_bytes_),
                   .info = {},
                   .tensor_maps = {}},
                  stream_, LaunchMode::execute);
  }

  /// The server threw: what the kernel was to write is unwritten.
  void failed(IServer& server, const Error& error) {
    std::array<BufferBinding, Buffers> bindings;
    const std::span<const BufferBinding> buffers = bind(bindings);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (writes(kernel_->definition->bindings[i].access))
        server.claim(buffers.subspan(i, 1), error, stream_);
    }
  }

 private:
  std::span<const BufferBinding> bind(std::span<BufferBinding> storage) const {
    for (std::size_t i = 0; i < buffer_count_; ++i) storage[i] = buffers_[i].binding();
    return storage.first(buffer_count_);
  }

  const CompiledKernel* kernel_;
  StreamId stream_;
  std::array<std::uint32_t, 3> count_;
  std::uint16_t buffer_count_;
  std::uint16_t scalar_bytes_;
  BoundRange indirect_;
  std::array<BoundRange, Buffers> buffers_;
  std::array<std::byte, ScalarBytes> scalars_;
};

}  // namespace backplane
