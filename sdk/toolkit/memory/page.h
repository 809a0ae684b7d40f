#pragma once

#include <cstddef>
#include <cstdint>

#include <backplane/toolkit/device_progress.h>
#include <backplane/toolkit/slice.h>
#include <backplane/toolkit/storage.h>

namespace backplane::toolkit {

class Pool;
struct Page;

enum class BlockState : std::uint8_t {
  free,
  used,    // a slice has it
  fenced,  // freed, but a stream other than the pool's may still use it
  leaked,  // nobody knows whether the device still uses it: never used again
};

/// What a pool counts, for pages of one size.
struct PoolCounts {
  std::uint64_t octave = 0;     // of the sizes, where they follow the requests
  std::uint64_t page_size = 0;  // bytes of the largest
  std::uint64_t slices = 0;
  std::uint64_t in_use = 0;  // bytes asked for, as is the peak
  std::uint64_t peak_in_use = 0;
  std::uint64_t reserved = 0;  // bytes
  std::uint64_t peak_reserved = 0;
};

/// A part of a page. Sizes and places are in granules, the storage's alignment.
struct Block {
  Page* page = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t granules = 0;
  Block* previous = nullptr;  // the neighbours within the page
  Block* next = nullptr;
  Block* previous_free = nullptr;
  Block* next_free = nullptr;
  Slice* slice = nullptr;
  std::uint64_t asked = 0;  // bytes, while it is not free
  std::uint32_t size_class = 0;
  BlockState state = BlockState::free;
};

/// One block of storage. It belongs to a pool of a stream, or, idle, to nobody.
struct Page {
  StorageBlock storage;
  std::uint64_t granules = 0;
  Pool* pool = nullptr;
  StreamId stream;  // whose order protects what was done with it
  Block* first = nullptr;
  std::uint64_t taken = 0;  // granules of blocks that are not free
  std::uint32_t guards = 0;
  std::uint32_t leaked = 0;      // blocks
  std::uint64_t idle_for = 0;    // cleanups
  Fence idle_since{};            // no earlier than its last use, once `idle_for` is not 0
  PoolCounts* counts = nullptr;  // of the pool
  std::uint32_t size_class = 0;
  bool hidden = false;            // its free blocks are not offered: it is being emptied
  bool offered = false;           // idle, and for any stream to take
  Page* previous_page = nullptr;  // of the pool
  Page* next_page = nullptr;
  Page* previous_free = nullptr;
  Page* next_free = nullptr;

  [[nodiscard]] bool idle() const noexcept { return taken == 0; }
};

}  // namespace backplane::toolkit
