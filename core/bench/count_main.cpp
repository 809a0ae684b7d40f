#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <string_view>
#include <vector>

#include <backplane/toolkit.h>

#include "null_storage.h"
#include "page_store.h"
#include "pool.h"

// Runs one scenario as often as it is told, for somebody else to count instructions; counts heap allocations
// itself. Usage: backplane_count SCENARIO REPEATS

namespace {

std::uint64_t heap_allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++heap_allocations;
  void* const memory = std::malloc(size);  // NOLINT(*-no-malloc): this is the heap
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}  // NOLINT(*-no-malloc)
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}  // NOLINT(*-no-malloc)

namespace backplane::bench {
namespace {

using toolkit::TrackedMemory;
using toolkit::TrackedRange;

constexpr StreamId kStream{1};
constexpr std::size_t kBuffers = 8;
constexpr std::size_t kLive = 4000;

/// Launches that succeed, over `kBuffers` buffers in all; a repeat is one buffer.
void launch(std::size_t reads, int repeats) {
  toolkit::Failures failures;
  std::vector<TrackedMemory> memory(kBuffers);
  std::vector<TrackedRange> ranges;
  for (TrackedMemory& tracked : memory) {
    tracked = failures.track();
    ranges.push_back({&tracked, nullptr, 0, 4096});
  }
  const auto read = std::span(ranges).first(reads);
  const auto written = std::span(ranges).subspan(reads);
  toolkit::ExecuteScope scope(failures, kStream);
  heap_allocations = 0;
  for (int i = 0; i < repeats; i += static_cast<int>(kBuffers)) {
    scope.launching("kernel", read, written, []() -> Result<void> { return {}; });
  }
}

/// A place found and freed while `kLive` others live, and nothing else.
void place(int repeats) {
  NullStorage storage;
  toolkit::SynchronousProgress progress;
  toolkit::PageStore store(storage, progress, 0);
  toolkit::Pool pool({.name = "counted", .kind = MemoryPoolKind::adaptive}, kStream, store);
  std::mt19937_64 random(1);
  std::vector<toolkit::Block*> live;
  const auto reserve = [&](std::uint64_t bytes) {
    toolkit::Block* const block = pool.reserve(bytes);
    return block != nullptr ? block : pool.grow(bytes).value();
  };
  for (std::size_t i = 0; i < 2 * kLive; ++i) live.push_back(reserve(256 * (1 + random() % 8192)));
  for (std::size_t i = 0; i < live.size(); i += 2) pool.release(*live[i]);  // leaves holes
  for (int i = 0; i < repeats; ++i) {
    pool.release(*pool.reserve(256 + 65'536 * static_cast<std::uint64_t>(i % 32)));
  }
}

/// A slice reserved and freed while `kLive` others live, of sizes up to 2 MiB.
void slice(int repeats) {
  TestBed bed;
  std::mt19937_64 random(1);
  const auto size = [&] { return 256 * (1 + random() % 8192); };
  std::vector<toolkit::Slice*> live;
  for (std::size_t i = 0; i < 2 * kLive; ++i)
    live.push_back(*bed.management.reserve_auxiliary(size(), kStream));
  for (std::size_t i = 0; i < live.size(); i += 2)
    bed.management.release_auxiliary(*live[i]);  // leaves holes
  heap_allocations = 0;
  for (int i = 0; i < repeats; ++i) {
    const std::uint64_t bytes = 256 + 65'536 * static_cast<std::uint64_t>(i % 32);
    bed.management.release_auxiliary(**bed.management.reserve_auxiliary(bytes, kStream));
  }
}

/// The same as a client does it: a handle is made, reserved and dropped, and noticed at the next reserve.
void handle(int repeats) {
  TestBed bed;
  std::mt19937_64 random(1);
  std::vector<ManagedMemory> live;
  const auto reserve = [&](std::uint64_t bytes) {
    ManagedMemory memory = ManagedMemory::create(bytes, "", bed.dropped);
    static_cast<void>(bed.management.reserve(*memory.get(), bytes, kStream));
    return memory;
  };
  for (std::size_t i = 0; i < 2 * kLive; ++i) live.push_back(reserve(256 * (1 + random() % 8192)));
  for (std::size_t i = 0; i < live.size(); i += 2) live[i] = {};
  for (int i = 0; i < repeats; ++i) reserve(256 + 65'536 * static_cast<std::uint64_t>(i % 32));
}

int run(std::string_view scenario, int repeats) {
  if (scenario == "read") {
    launch(kBuffers, repeats);
  } else if (scenario == "written") {
    launch(0, repeats);
  } else if (scenario == "place") {
    place(repeats);
  } else if (scenario == "slice") {
    slice(repeats);
  } else if (scenario == "handle") {
    handle(repeats);
  } else {
    std::fputs("usage: backplane_count read|written|place|slice|handle REPEATS\n", stderr);
    return 2;
  }
  std::printf("heap %llu\n", static_cast<unsigned long long>(heap_allocations));
  return 0;
}

}  // namespace
}  // namespace backplane::bench

int main(int argc, char** argv) {
  if (argc != 3) return backplane::bench::run("", 0);
  return backplane::bench::run(argv[1], std::atoi(argv[2]));
}
