#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <backplane/contract/result.h>
#include <backplane/contract/server.h>

namespace backplane::toolkit {

/// A tensor that needs memory.
struct TensorRequest {
  std::span<const std::uint64_t> shape;  ///< Elements in each dimension, the last one contiguous.
  std::uint32_t element_size;            ///< Bytes; not 0.
};

/// Where a tensor lies in an allocation.
struct TensorLayout {
  std::uint64_t offset = 0;            ///< Bytes from the start of the allocation.
  std::uint64_t size = 0;              ///< Bytes from the first element to the end of the last row.
  std::uint64_t pitch = 0;             ///< Bytes from a row to the next; of one dimension, the whole tensor.
  std::vector<std::uint64_t> strides;  ///< Elements from one index to the next, in each dimension.
};

/// Tensors that share an allocation.
struct AllocationLayout {
  std::uint64_t size = 0;             ///< Bytes of the allocation.
  std::vector<TensorLayout> tensors;  ///< In the order of the requests.
};

/// Lays a tensor out row after row, each one starting at a multiple of `pitch_alignment` bytes where the
/// tensor has two dimensions or more; 1 packs them. Where that is no whole number of elements, the pitch
/// grows until it is. Errors: `validation` where the tensor does not fit 64 bits, or for an element or
/// alignment of no bytes.
Result<TensorLayout> lay_out(const TensorRequest& tensor, std::uint64_t pitch_alignment);

/// Lays tensors out one after the other in one allocation. Errors: those of one.
Result<AllocationLayout> lay_out(std::span<const TensorRequest> tensors, const LayoutPolicy& policy);

}  // namespace backplane::toolkit
