#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <backplane/contract/element.h>
#include <backplane/contract/id.h>
#include <backplane/contract/memory.h>

namespace backplane {

/// How a reduction combines the ranks' values.
enum class ReduceOperation : std::uint8_t { sum = 0, mean = 1 };

/// What one rank says to join a communicator. All ranks give the same `unique_id`, made by one of them.
struct CommunicatorDescription {
  std::array<std::byte, 128> unique_id{};
  std::uint32_t rank = 0;  ///< This device, from 0.
  std::uint32_t size = 0;  ///< Ranks in all.
};

/// One rank's part of an all-reduce: `source` of every rank, combined, ends in `destination` of every rank.
/// They may be the same range.
struct AllReduceDescription {
  BufferBinding source;
  BufferBinding destination;
  ElementType element{};
  ReduceOperation operation{};
  CommunicatorId communicator;
};

/// One side of a transfer between two ranks; the other side calls the matching method.
struct PeerTransferDescription {
  BufferBinding buffer;
  std::uint32_t peer = 0;  ///< Rank of the other side.
  CommunicatorId communicator;
};

}  // namespace backplane
