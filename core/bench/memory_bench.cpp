#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <backplane/toolkit.h>

#include "allocation_traces.h"
#include "baselines.h"
#include "best_fit.h"
#include "instructions.h"
#include "null_storage.h"
#include "table.h"

namespace backplane::bench {
namespace {

using toolkit::Slice;
using toolkit::TraceStep;

constexpr StreamId kStream{1};
constexpr StreamId kOther{2};
constexpr std::size_t kPairs = 200'000;
constexpr std::uint64_t kUnit = std::uint64_t{256} << 10;

/// Sizes from 256 bytes to 2 MiB and which of the live allocations each replaces: the same for everyone.
struct Replacements {
  explicit Replacements(std::size_t live) {
    std::mt19937_64 random(1);
    for (std::size_t i = 0; i < live + kPairs; ++i) {
      sizes.push_back(256 * (1 + random() % 8192));
      which.push_back(random() % live);
    }
  }
  std::vector<std::uint64_t> sizes;
  std::vector<std::size_t> which;
};

/// Nanoseconds to free one of `live` allocations and reserve another.
double replace_ours(std::size_t live, const Replacements& plan) {
  TestBed bed;
  std::vector<Slice*> slices;
  for (std::size_t i = 0; i < live; ++i) {
    slices.push_back(bed.management.reserve_auxiliary(plan.sizes[i], kStream).value());
  }
  const auto start = Clock::now();
  for (std::size_t i = 0; i < kPairs; ++i) {
    Slice*& slice = slices[plan.which[i]];
    bed.management.release_auxiliary(*slice);
    slice = *bed.management.reserve_auxiliary(plan.sizes[live + i], kStream);
  }
  return nanoseconds_since(start) / kPairs;
}

double replace_best_fit(std::size_t live, const Replacements& plan) {
  OrderedBestFit allocator;
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < live; ++i) addresses.push_back(allocator.reserve(plan.sizes[i]));
  const auto start = Clock::now();
  for (std::size_t i = 0; i < kPairs; ++i) {
    std::uint64_t& address = addresses[plan.which[i]];
    allocator.free(address);
    address = allocator.reserve(plan.sizes[live + i]);
  }
  return nanoseconds_since(start) / kPairs;
}

std::vector<Row> reserve_rows() {
  const Replacements few(16);
  const Replacements some(400);
  const Replacements many(4000);
  const auto results =
      interleave({[&] { return replace_ours(16, few); }, [&] { return replace_ours(400, some); },
                  [&] { return replace_ours(4000, many); }, [&] { return replace_best_fit(400, some); },
                  [&] { return replace_best_fit(4000, many); }});
  const auto row = [](std::string id, std::string what, std::string baseline, double budget) {
    return Row{.id = std::move(id),
               .what = std::move(what),
               .unit = "ns",
               .baseline_name = std::move(baseline),
               .budget = budget};
  };
  return {
      compare(row("8.1", "reserve + free, random sizes, 4,000 live", "16 live", 1.5), results[2], results[0]),
      compare(row("8.2", "the same, 400 live", "S", 1.0 / 3), results[1], results[3]),
      compare(row("8.3", "the same, 4,000 live", "S", 1.0 / 3), results[2], results[4]),
      instruction_row({.id = "8.4", .what = "placing + freeing, 4,000 live, instructions", .budget = 250},
                      "place"),
      instruction_row({.id = "8.5", .what = "the same with the slice's own record", .budget = 250}, "slice"),
      instruction_row({.id = "8.6", .what = "the same through a handle, made and dropped", .budget = 250},
                      "handle")};
}

struct Peaks {
  std::uint64_t in_use = 0;
  std::uint64_t reserved = 0;
  [[nodiscard]] double percent() const {
    return 100 * static_cast<double>(reserved) / static_cast<double>(in_use);
  }
};

template <class Reserve, class Free>
std::uint64_t replay(const std::vector<TraceStep>& trace, Reserve reserve, Free free) {
  std::vector<std::uint64_t> sizes(toolkit::allocations_in(trace));
  std::uint64_t in_use = 0;
  std::uint64_t peak = 0;
  for (const TraceStep& step : trace) {
    if (step.size == 0) {
      in_use -= sizes[step.id];
      free(step.id);
    } else {
      sizes[step.id] = step.size;
      in_use += step.size;
      reserve(step.id, step.size);
    }
    peak = std::max(peak, in_use);
  }
  return peak;
}

/// Replays through handles, each allocation on the stream that `stream_of` its number says.
template <class StreamOf>
void replay_on(TestBed& bed, const std::vector<TraceStep>& trace, Peaks& peaks, StreamOf stream_of) {
  std::vector<ManagedMemory> handles(toolkit::allocations_in(trace));
  const auto reserve = [&](std::size_t id, std::uint64_t size) {
    handles[id] = ManagedMemory::create(size, "", bed.dropped);
    if (!bed.management.reserve(*handles[id].get(), size, stream_of(id)))
      throw std::runtime_error("a reservation failed");
  };
  const std::uint64_t peak = replay(trace, reserve, [&](std::size_t id) { handles[id] = {}; });
  peaks.in_use = std::max(peaks.in_use, peak);
  peaks.reserved = bed.management.peak_reserved();
}

Peaks ours(const std::vector<TraceStep>& trace) {
  TestBed bed;
  Peaks peaks;
  replay_on(bed, trace, peaks, [](std::size_t) { return kStream; });
  return peaks;
}

Peaks best_fit(const std::vector<TraceStep>& trace) {
  OrderedBestFit allocator;
  std::vector<std::uint64_t> addresses(toolkit::allocations_in(trace));
  Peaks peaks;
  peaks.in_use = replay(
      trace, [&](std::size_t id, std::uint64_t size) { addresses[id] = allocator.reserve(size); },
      [&](std::size_t id) { allocator.free(addresses[id]); });
  peaks.reserved = allocator.peak_reserved();
  return peaks;
}

Row fragmentation_row(std::string id, const std::string& name,
                      std::vector<TraceStep> (*generate)(std::uint64_t, std::uint64_t)) {
  std::vector<double> figures;
  std::vector<double> baselines;
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    const std::vector<TraceStep> trace = generate(seed, kUnit);
    figures.push_back(ours(trace).percent());
    baselines.push_back(best_fit(trace).percent());
  }
  return compare({.id = std::move(id),
                  .what = "peak reserved / peak in use, " + name,
                  .unit = "%",
                  .baseline_name = "S",
                  .budget = 1.02},
                 figures, baselines);
}

Row large_tensor_row() {
  constexpr std::uint64_t kTensor = std::uint64_t{589} << 20;
  const Peaks peaks = ours({{0, kTensor}, {0, 0}});
  return compare({.id = "9.4",
                  .what = "one tensor of 589 MiB alone, reserved",
                  .unit = "%",
                  .baseline_name = "in use",
                  .budget = 1.01},
                 {peaks.percent()}, {100});
}

std::vector<Row> two_stream_rows() {
  std::vector<double> alone;
  std::vector<double> in_turns;
  std::vector<double> at_once;
  for (std::uint64_t seed = 1; seed <= kRounds; ++seed) {
    const std::vector<TraceStep> trace = toolkit::training_like_trace(seed, kUnit);
    TestBed one;
    Peaks peaks;
    for (int turn = 0; turn < 4; ++turn) replay_on(one, trace, peaks, [](std::size_t) { return kStream; });
    alone.push_back(peaks.percent());
    TestBed turns;
    peaks = {};
    for (const StreamId stream : {kStream, kOther, kStream, kOther})
      replay_on(turns, trace, peaks, [&](std::size_t) { return stream; });
    in_turns.push_back(peaks.percent());
    TestBed mixed;
    peaks = {};
    replay_on(mixed, trace, peaks, [](std::size_t id) { return id % 2 == 0 ? kStream : kOther; });
    at_once.push_back(peaks.percent());
  }
  const auto row = [](std::string id, std::string what, double budget) {
    return Row{
        .id = std::move(id), .what = std::move(what), .unit = "%", .baseline_name = "one", .budget = budget};
  };
  return {compare(row("9.5", "two streams in turns, reserved / in use", 1.02), in_turns, alone),
          compare(row("9.6", "two streams at once, reserved / in use", 1.5), at_once, alone)};
}

std::vector<Row> fragmentation_rows() {
  std::vector<Row> rows{fragmentation_row("9.1", "training-like", toolkit::training_like_trace),
                        fragmentation_row("9.2", "inference-like", toolkit::inference_like_trace),
                        fragmentation_row("9.3", "adversarial", toolkit::adversarial_trace),
                        large_tensor_row()};
  std::ranges::move(two_stream_rows(), std::back_inserter(rows));
  return rows;
}

std::vector<Row> failure_tracking_rows() {
  return {
      instruction_row({.id = "7.1", .what = "failure tracking, instructions a buffer read", .budget = 40},
                      "read"),
      instruction_row({.id = "7.2", .what = "failure tracking, instructions a buffer written", .budget = 80},
                      "written"),
      heap_row({.id = "7.3", .what = "failure tracking, heap allocations a launch", .budget = 0}, "read")};
}

const Registration failure_tracking_budget("7", "failure tracking on a launch that succeeds",
                                           failure_tracking_rows);
const Registration reserve_budget("8", "reserve + free", reserve_rows);
const Registration fragmentation_budget("9", "fragmentation", fragmentation_rows);

}  // namespace
}  // namespace backplane::bench
