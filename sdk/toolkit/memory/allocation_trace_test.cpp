#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "allocation_traces.h"
#include "memory_test_support.h"

namespace backplane::toolkit {
namespace {

using Generator = std::vector<TraceStep> (*)(std::uint64_t, std::uint64_t);

struct TraceCase {
  std::string name;
  Generator generate;
  std::uint64_t unit;  // chosen so that a few tens of MiB are live
};

const std::array kTraces{TraceCase{"Training", training_like_trace, 16 * kKiB},
                         TraceCase{"Inference", inference_like_trace, 16 * kKiB},
                         TraceCase{"Adversarial", adversarial_trace, 16 * kKiB}};
constexpr std::array kPresets{MemoryPreset::adaptive, MemoryPreset::sub_slices,
                              MemoryPreset::exclusive_pages};

/// What must be true of memory whatever is done to it: live allocations do not overlap, and what was written
/// to them is there.
class Oracle {
 public:
  explicit Oracle(TestMemory& memory) : memory_(memory) {}

  void add(std::size_t id, const ManagedMemory& handle) {
    const Slice& added = slice(handle);
    if (!added.backing || added.size == 0) return;
    EXPECT_LE(added.place.offset + added.size, memory_.storage.sizes.at(added.place.storage));
    live_[id] = handle.get();
    std::memset(memory_.storage.data(added.place), pattern(id), added.size);
  }

  void check_and_remove(std::size_t id) {
    const auto found = live_.find(id);
    if (found == live_.end()) return;
    const Slice& removed = slice_of(*found->second);
    const std::byte* bytes = memory_.storage.data(removed.place);
    for (const std::uint64_t at : {std::uint64_t{0}, removed.size / 2, removed.size - 1}) {
      ASSERT_EQ(bytes[at], static_cast<std::byte>(pattern(id))) << "allocation " << id << ", byte " << at;
    }
    live_.erase(found);
  }

  void check_overlap() const {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ends;
    for (const auto& [id, allocation] : live_) {
      const Slice& range = slice_of(*allocation);
      ends[{range.place.storage.value, range.place.offset}] = range.place.offset + range.size;
    }
    const std::pair<const std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>* before = nullptr;
    for (const auto& entry : ends) {
      if (before != nullptr && before->first.first == entry.first.first) {
        ASSERT_LE(before->second, entry.first.second);
      }
      before = &entry;
    }
    ASSERT_EQ(ends.size(), live_.size());
  }

 private:
  static int pattern(std::size_t id) { return static_cast<int>(id % 251) + 1; }

  TestMemory& memory_;
  std::map<std::size_t, const Allocation*> live_;
};

/// Replays a trace on two streams, with relocation and cleanup now and then.
void replay(TestMemory& memory, const std::vector<TraceStep>& trace, std::uint64_t seed) {
  Oracle oracle(memory);
  std::mt19937_64 random(seed);
  std::vector<ManagedMemory> handles(allocations_in(trace));
  const auto copy = [&](const Placement& from, const Placement& to, std::uint64_t bytes,
                        StreamId) -> Result<void> {
    std::memcpy(memory.storage.data(to), memory.storage.data(from), bytes);
    return {};
  };
  std::size_t count = 0;
  for (const TraceStep& step : trace) {
    const StreamId stream = random() % 4 == 0 ? kOther : kStream;
    if (step.size == 0) {
      oracle.check_and_remove(step.id);
      if (random() % 8 == 0) slice(handles[step.id]).stream = stream;
      handles[step.id] = {};
    } else {
      handles[step.id] = memory.reserve(step.size, stream);
      oracle.add(step.id, handles[step.id]);
    }
    if (random() % 16 == 0) memory.progress.finish(stream);
    if (++count % 512 != 0) continue;
    static_cast<void>(memory.management->relocate(stream, copy));
    if (random() % 2 == 0) memory.management->cleanup(stream);
    oracle.check_overlap();
  }
}

class AllocationTraceTest : public ::testing::TestWithParam<std::tuple<std::size_t, MemoryPreset>> {};

TEST_P(AllocationTraceTest, LiveAllocationsDoNotOverlapAndKeepTheirContents) {
  const TraceCase& trace = kTraces.at(std::get<0>(GetParam()));
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TestMemory memory(1024 * kMiB, {.cleanup_period = 256}, true);
    ASSERT_TRUE(memory.management->install_pools({std::get<1>(GetParam()), {}}, kStream));
    replay(memory, trace.generate(seed, trace.unit), seed);
    for (const StreamId stream : {kStream, kOther}) memory.management->cleanup(stream);
    EXPECT_EQ(memory.storage.in_use, 0U);
    EXPECT_EQ(memory.management->usage(kStream).allocation_count, 0U);
    EXPECT_EQ(memory.management->usage(kOther).bytes_in_use, 0U);
  }
}

TEST_P(AllocationTraceTest, RunningOutAtAnyStorageAllocationLosesNothing) {
  const TraceCase& trace = kTraces.at(std::get<0>(GetParam()));
  const std::vector<TraceStep> steps = trace.generate(1, kKiB);
  for (std::uint64_t fail_at = 1; fail_at <= 64; ++fail_at) {
    SCOPED_TRACE("failing at allocation " + std::to_string(fail_at));
    TestMemory memory(64 * kMiB, {}, true);
    ASSERT_TRUE(memory.management->install_pools({std::get<1>(GetParam()), {}}, kStream));
    memory.storage.fail_at = fail_at;
    replay(memory, steps, fail_at);
    for (const StreamId stream : {kStream, kOther}) memory.management->cleanup(stream);
    ASSERT_EQ(memory.storage.in_use, 0U);
    if (memory.storage.failures == 0) break;  // there are no more allocations to fail
  }
}

TEST_P(AllocationTraceTest, TightMemoryFailsSomeRequestsAndServesTheRest) {
  const TraceCase& trace = kTraces.at(std::get<0>(GetParam()));
  TestMemory memory(1024 * kMiB, {.limit = 8 * kMiB}, true);
  ASSERT_TRUE(memory.management->install_pools({std::get<1>(GetParam()), {}}, kStream));
  replay(memory, trace.generate(1, trace.unit), 1);
  EXPECT_LE(memory.management->peak_reserved(), 8 * kMiB);
  for (const StreamId stream : {kStream, kOther}) memory.management->cleanup(stream);
  EXPECT_EQ(memory.storage.in_use, 0U);
}

INSTANTIATE_TEST_SUITE_P(Every, AllocationTraceTest,
                         ::testing::Combine(::testing::Range<std::size_t>(0, kTraces.size()),
                                            ::testing::ValuesIn(kPresets)));

TEST(PlateauTest, TenThousandTrainingLikeStepsReachAPlateau) {
  TestMemory memory;
  std::mt19937_64 random(7);
  std::vector<ManagedMemory> weights;
  for (int i = 0; i < 50; ++i) weights.push_back(memory.reserve(kMiB + random() % kMiB));
  std::uint64_t after_warm_up = 0;
  for (int step = 0; step < 10'000; ++step) {
    std::vector<ManagedMemory> activations;
    for (int layer = 0; layer < 20; ++layer) {
      const ManagedMemory scratch = memory.reserve(kMiB + random() % (8 * kMiB));
      activations.push_back(memory.reserve(kMiB + random() % (4 * kMiB)));
    }
    while (!activations.empty()) activations.pop_back();
    if (step == 1000) after_warm_up = memory.management->peak_reserved();
  }
  EXPECT_LE(memory.management->peak_reserved(), after_warm_up * 110 / 100);
}

TEST(MemoryThreadsTest, HandlesMayBeDroppedByAnyThreadWhileTheServerReserves) {
  constexpr std::size_t kThreads = 3;
  constexpr std::size_t kSlots = 64;
  TestMemory memory;
  using Slot = std::atomic<ManagedMemory*>;
  const auto drop = [](Slot& slot, ManagedMemory* next) {
    const std::unique_ptr<ManagedMemory> last(slot.exchange(next));
  };
  std::array<std::array<Slot, kSlots>, kThreads> mailboxes{};
  std::atomic<bool> stop{false};
  std::vector<std::thread> droppers;
  for (auto& mailbox : mailboxes) {
    droppers.emplace_back([&mailbox, &stop, &drop] {
      while (!stop.load()) {
        for (Slot& slot : mailbox) drop(slot, nullptr);
        std::this_thread::yield();
      }
      for (Slot& slot : mailbox) drop(slot, nullptr);
    });
  }
  ManagedMemory kept;
  for (std::size_t i = 0; i < 20'000; ++i) {
    kept = memory.reserve(64 + i % 4096);  // drops the one before, if no other thread still has it
    drop(mailboxes.at(i % kThreads).at(i % kSlots), std::make_unique<ManagedMemory>(kept).release());
  }
  kept = {};
  stop.store(true);
  for (std::thread& dropper : droppers) dropper.join();
  memory.management->drain_dropped();
  EXPECT_EQ(memory.management->usage(kStream).allocation_count, 0U);
  EXPECT_EQ(memory.failures.size(), 0U);
}

}  // namespace
}  // namespace backplane::toolkit
