#pragma once

#include <cstdint>
#include <span>

#include <backplane/contract/bytes.h>
#include <backplane/contract/memory.h>

namespace backplane {

/// What a copy between host and device moves: a tensor in a buffer. On the host side rows are always packed.
/// A copy must be pitched row-major: the last dimension contiguous, every other stride a whole number of
/// rows; anything else is refused with `unsupported_strides`.
struct CopyDescriptor {
  BufferBinding buffer;                    ///< Device side.
  std::span<const std::uint64_t> shape;    ///< Elements in each dimension; empty for plain bytes.
  std::span<const std::uint64_t> strides;  ///< Elements from one index to the next, as many as `shape` has.
  std::uint32_t element_size = 1;          ///< Bytes of an element.
};

/// A copy to the device and the packed bytes to copy; they are moved from, and stay alive until the device is
/// done.
struct WriteDescriptor {
  CopyDescriptor destination;
  Bytes source;
};

/// A buffer as the driver knows it. Keeps the allocation, and the place it has, for as long as this lives.
struct NativeResource {
  ManagedMemory keep;            ///< The allocation.
  std::uint64_t handle = 0;      ///< Address of the first byte, or the driver's handle of the memory object.
  std::uint64_t offset = 0;      ///< Bytes from there to the buffer; 0 where `handle` is an address.
  std::uint64_t byte_count = 0;  ///< Bytes of the buffer.
};

}  // namespace backplane
