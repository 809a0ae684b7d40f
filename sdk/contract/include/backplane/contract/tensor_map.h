#pragma once

#include <array>
#include <cstdint>

#include <backplane/contract/element.h>
#include <backplane/contract/memory.h>

namespace backplane {

/// How a tensor map addresses its tensor.
enum class TensorMapMode : std::uint8_t { tiled = 0, im2col = 1 };
/// Interleaving of the innermost dimension in global memory.
enum class TensorMapInterleave : std::uint8_t { none = 0, bytes_16 = 1, bytes_32 = 2 };
/// How rows are swizzled over the banks of shared memory.
enum class TensorMapSwizzle : std::uint8_t { none = 0, bytes_32 = 1, bytes_64 = 2, bytes_128 = 3 };
/// How much is brought into the second-level cache at a time.
enum class TensorMapPrefetch : std::uint8_t { none = 0, bytes_64 = 1, bytes_128 = 2, bytes_256 = 3 };
/// What stands for elements outside the tensor.
enum class TensorMapFill : std::uint8_t { zero = 0, nan = 1 };

/// A tensor described for a device's bulk copy engine, passed to a native kernel as an argument. The memory
/// behind it counts as read and written by the launch, as `access` says for any buffer. Dimension 0 is
/// innermost.
struct TensorMapArgument {
  static constexpr std::uint32_t kMaximumRank = 5;

  BufferBinding buffer;
  bool written = false;  ///< The kernel stores through the map; else it only loads.
  TensorMapMode mode{};
  ElementType element{};
  TensorMapInterleave interleave{};
  TensorMapSwizzle swizzle{};
  TensorMapPrefetch prefetch{};
  TensorMapFill fill{};
  std::uint32_t rank = 0;                           ///< 1 to 5.
  std::array<std::uint64_t, kMaximumRank> shape{};  ///< Elements.
  std::array<std::uint64_t, kMaximumRank>
      strides_bytes{};  ///< From one index to the next; entry 0 is unused.
  std::array<std::uint32_t, kMaximumRank>
      element_strides{};                               ///< Every how many-th element is taken; 1 for all.
  std::array<std::uint32_t, kMaximumRank> box{};       ///< Tiled: elements of a tile.
  std::array<std::int32_t, kMaximumRank> box_lower{};  ///< Im2col: the bounding box's corners,
  std::array<std::int32_t, kMaximumRank> box_upper{};  ///< for the rank - 2 spatial dimensions.
  std::uint32_t channels_per_pixel = 0;                ///< Im2col.
  std::uint32_t pixels_per_column = 0;                 ///< Im2col.
};

}  // namespace backplane
