#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <backplane/toolkit/device_progress.h>

#include "page.h"

namespace backplane::toolkit {

/// Blocks that were freed while a stream other than their pool's may still use them. They go back to their
/// pools when that stream has passed the point at which they were freed. One thread, the server's.
class DropQueue {
 public:
  explicit DropQueue(IDeviceProgress& progress) : progress_(progress) {}
  DropQueue(const DropQueue&) = delete;
  DropQueue& operator=(const DropQueue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Keeps a block that `stream` used last until the point that the next `seal` marks.
  void add(Block& block, StreamId stream);

  /// Marks the streams of all blocks added since the last time: one fence a stream, however many blocks.
  void seal();

  /// Frees what the device is done with. Does not wait.
  void collect();

  /// Waits for the device and frees everything. Where a wait fails and the device is not seen to be done, the
  /// blocks are leaked.
  void drain();

 private:
  struct Entry {
    Block* block;
    std::uint64_t fence;
  };
  struct Line {
    StreamId stream;
    std::deque<Entry> fenced;
    std::vector<Block*> open;  // without a fence yet
  };

  void free_front(Line& line);

  IDeviceProgress& progress_;
  std::vector<Line> lines_;
  std::size_t count_ = 0;
};

}  // namespace backplane::toolkit
