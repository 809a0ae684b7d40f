#pragma once

#include <cstddef>
#include <cstdint>

#include <backplane/contract/result.h>
#include <backplane/contract/transfer.h>

namespace backplane::toolkit {

/// A copy between packed host memory and pitched device memory: `rows` runs of `row_bytes`, on the device
/// `pitch_bytes` from one to the next.
struct PitchedCopy {
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t pitch_bytes = 0;

  /// Bytes on the host.
  [[nodiscard]] std::uint64_t host_bytes() const noexcept { return rows * row_bytes; }

  /// Bytes from the first to the last on the device.
  [[nodiscard]] std::uint64_t device_bytes() const noexcept {
    return rows == 0 ? 0 : (rows - 1) * pitch_bytes + row_bytes;
  }
};

/// The copy that a descriptor asks for; without a shape, all bytes of its buffer. Errors:
/// `unsupported_strides` where the tensor is not pitched row-major; `validation` where shape and strides do
/// not match, or the tensor does not fit the buffer or 64 bits.
Result<PitchedCopy> plan_copy(const CopyDescriptor& descriptor);

/// Copies rows between host and device memory that the host can address.
void copy_to_host(const PitchedCopy& copy, const std::byte* device, std::byte* host) noexcept;
void copy_to_device(const PitchedCopy& copy, const std::byte* host, std::byte* device) noexcept;

}  // namespace backplane::toolkit
