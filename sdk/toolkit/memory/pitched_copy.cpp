#include <cstring>
#include <limits>
#include <string>

#include <backplane/toolkit/pitched_copy.h>

namespace backplane::toolkit {
namespace {

Error does_not_fit(const CopyDescriptor& descriptor, std::uint64_t bytes) {
  return Error(ErrorCode::validation, "A tensor of " + std::to_string(bytes) +
                                          " bytes does not fit its buffer of " +
                                          std::to_string(descriptor.buffer.size) + " bytes.")
      .with_limit(bytes, descriptor.buffer.size);
}

Error too_large() {
  return {ErrorCode::validation,
          "The size of a tensor in bytes does not fit 64 bits; check its shape and strides."};
}

Error not_pitched(std::size_t dimension, std::uint64_t stride) {
  return {ErrorCode::unsupported_strides,
          "A tensor whose dimension " + std::to_string(dimension) + " has a stride of " +
              std::to_string(stride) +
              " elements is not pitched row-major and cannot be copied; make it contiguous first."};
}

/// False, with nothing changed, where the product does not fit.
bool multiply(std::uint64_t& product, std::uint64_t factor) {
  if (factor != 0 && product > std::numeric_limits<std::uint64_t>::max() / factor) return false;
  product *= factor;
  return true;
}

}  // namespace

Result<PitchedCopy> plan_copy(const CopyDescriptor& descriptor) {
  const auto [buffer, shape, strides, element_size] = descriptor;
  if (shape.empty()) return PitchedCopy{buffer.size == 0 ? 0U : 1U, buffer.size, buffer.size};
  if (strides.size() != shape.size()) {
    return Error(ErrorCode::validation, "A tensor has " + std::to_string(shape.size()) + " dimensions and " +
                                            std::to_string(strides.size()) +
                                            " strides; they must be as many.");
  }
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return PitchedCopy{};
  }

  // Dimensions are folded from the innermost out: first into a packed row, and from the first gap on into
  // rows at a pitch.
  std::uint64_t row = 1;
  std::uint64_t rows = 1;
  std::uint64_t pitch = 0;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    std::uint64_t expected = pitch == 0 ? row : pitch;
    if (pitch != 0 && !multiply(expected, rows)) return too_large();
    if (pitch == 0 && strides[i] > row && i + 1 < shape.size()) pitch = expected = strides[i];
    if (strides[i] != expected) return not_pitched(i, strides[i]);
    if (!multiply(pitch == 0 ? row : rows, shape[i])) return too_large();
  }
  if (pitch == 0) pitch = row;
  if (!multiply(row, element_size) || !multiply(pitch, element_size)) return too_large();
  std::uint64_t last_row = rows - 1;
  if (!multiply(last_row, pitch) || last_row > ~std::uint64_t{0} - row) return too_large();
  const PitchedCopy copy{rows, row, pitch};
  if (copy.device_bytes() > buffer.size) return does_not_fit(descriptor, copy.device_bytes());
  return copy;
}

void copy_to_host(const PitchedCopy& copy, const std::byte* device, std::byte* host) noexcept {
  for (std::uint64_t row = 0; row < copy.rows; ++row) {
    std::memcpy(host + row * copy.row_bytes, device + row * copy.pitch_bytes, copy.row_bytes);
  }
}

void copy_to_device(const PitchedCopy& copy, const std::byte* host, std::byte* device) noexcept {
  for (std::uint64_t row = 0; row < copy.rows; ++row) {
    std::memcpy(device + row * copy.pitch_bytes, host + row * copy.row_bytes, copy.row_bytes);
  }
}

}  // namespace backplane::toolkit
