#include "drop_queue.h"

#include <algorithm>

#include "pool.h"

namespace backplane::toolkit {

void DropQueue::add(Block& block, StreamId stream) {
  auto line = std::ranges::find(lines_, stream, &Line::stream);
  if (line == lines_.end()) line = lines_.insert(line, Line{.stream = stream, .fenced = {}, .open = {}});
  block.state = BlockState::fenced;
  block.slice = nullptr;
  line->open.push_back(&block);
  ++count_;
}

void DropQueue::seal() {
  for (Line& line : lines_) {
    if (line.open.empty()) continue;
    const Fence fence = progress_.mark(line.stream);
    for (Block* const block : line.open) line.fenced.push_back({.block = block, .fence = fence.value});
    line.open.clear();
  }
}

void DropQueue::collect() {
  for (Line& line : lines_) {
    while (!line.fenced.empty()) {
      const std::uint64_t fence = line.fenced.front().fence;
      if (!progress_.reached({.stream = line.stream, .value = fence})) break;
      // The driver is asked once a fence, not once a block.
      while (!line.fenced.empty() && line.fenced.front().fence == fence) free_front(line);
    }
  }
}

void DropQueue::drain() {
  seal();
  collect();
  for (Line& line : lines_) {
    if (line.fenced.empty()) continue;
    const bool done = progress_.wait({.stream = line.stream, .value = line.fenced.back().fence}).has_value();
    while (!line.fenced.empty()) {
      const Entry& entry = line.fenced.front();
      if (done || progress_.reached({.stream = line.stream, .value = entry.fence})) {
        free_front(line);
      } else {
        entry.block->page->pool->leak(*entry.block);
        line.fenced.pop_front();
        --count_;
      }
    }
  }
}

void DropQueue::free_front(Line& line) {
  Block& block = *line.fenced.front().block;
  line.fenced.pop_front();
  --count_;
  block.page->pool->release(block);
}

}  // namespace backplane::toolkit
