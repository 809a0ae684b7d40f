#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include <backplane/toolkit/memory_management.h>

#include "drop_queue.h"
#include "page_store.h"
#include "slab.h"
#include "stream_memory.h"

namespace backplane::toolkit {

/// What `MemoryManagement` keeps. One thread, the server's.
struct MemoryManagement::State {
  State(IStorage& storage, IDeviceProgress& device_progress, Failures& failure_tracking,
        std::shared_ptr<DroppedAllocations> dropped_allocations, MemoryOptions memory_options)
      : progress(device_progress),
        failures(failure_tracking),
        dropped(std::move(dropped_allocations)),
        options(std::move(memory_options)),
        store(storage, device_progress, options.limit),
        drops(device_progress) {}

  IDeviceProgress& progress;
  Failures& failures;
  std::shared_ptr<DroppedAllocations> dropped;
  MemoryOptions options;
  PageStore store;
  DropQueue drops;
  Slab<Slice> slices;
  std::vector<PoolPlan> plans;  // of streams to come
  std::unordered_map<StreamId, std::unique_ptr<StreamMemory>> streams;
  StreamMemory* last_stream = nullptr;
  std::unordered_map<Slice*, StreamMemory*> without_memory;  // empty, or failed
};

}  // namespace backplane::toolkit
