#include <numeric>
#include <string>

#include <backplane/toolkit/layout.h>

namespace backplane::toolkit {
namespace {

Error too_large() {
  return {ErrorCode::validation, "A tensor does not fit 64-bit sizes; make it smaller."};
}

Result<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return too_large();
  return result;
}

Result<std::uint64_t> round_up(std::uint64_t value, std::uint64_t multiple) {
  const std::uint64_t over = value % multiple;
  std::uint64_t result = 0;
  if (__builtin_add_overflow(value, over == 0 ? 0 : multiple - over, &result)) return too_large();
  return result;
}

}  // namespace

Result<TensorLayout> lay_out(const TensorRequest& tensor, std::uint64_t pitch_alignment) {
  if (tensor.element_size == 0 || pitch_alignment == 0) {
    return Error(ErrorCode::validation, "A tensor has elements of " + std::to_string(tensor.element_size) +
                                            " bytes and rows aligned to " + std::to_string(pitch_alignment) +
                                            " bytes; both must be at least 1.");
  }
  TensorLayout layout;
  layout.strides.assign(tensor.shape.size(), 1);
  const std::uint64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  BACKPLANE_TRY(const std::uint64_t row, product(columns, tensor.element_size));
  layout.pitch = row;
  std::uint64_t rows = 1;
  if (tensor.shape.size() > 1) {
    const std::uint64_t step = std::lcm(pitch_alignment, std::uint64_t{tensor.element_size});
    BACKPLANE_TRY(layout.pitch, round_up(row, step));
    std::uint64_t stride = layout.pitch / tensor.element_size;
    for (std::size_t dimension = tensor.shape.size() - 1; dimension-- > 0;) {
      layout.strides[dimension] = stride;
      BACKPLANE_TRY(stride, product(stride, tensor.shape[dimension]));
      BACKPLANE_TRY(rows, product(rows, tensor.shape[dimension]));
    }
  }
  if (rows == 0 || row == 0) return layout;
  BACKPLANE_TRY(const std::uint64_t before_last, product(rows - 1, layout.pitch));
  if (__builtin_add_overflow(before_last, row, &layout.size)) return too_large();
  return layout;
}

Result<AllocationLayout> lay_out(std::span<const TensorRequest> tensors, const LayoutPolicy& policy) {
  AllocationLayout allocation;
  for (const TensorRequest& tensor : tensors) {
    BACKPLANE_TRY(TensorLayout layout, lay_out(tensor, policy.pitch_alignment));
    BACKPLANE_TRY(layout.offset, round_up(allocation.size, policy.tensor_alignment));
    if (__builtin_add_overflow(layout.offset, layout.size, &allocation.size)) return too_large();
    allocation.tensors.push_back(std::move(layout));
  }
  return allocation;
}

}  // namespace backplane::toolkit
