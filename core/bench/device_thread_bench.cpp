#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "baselines.h"
#include "device_thread/device_thread.h"
#include "table.h"

namespace backplane::bench {
namespace {

constexpr int kTasks = 1'000'000;
constexpr int kNaiveTasks = 200'000;
constexpr int kCallers = 4;
constexpr int kCalls = 100'000;
constexpr int kIdleCalls = 250;
constexpr auto kIdle = std::chrono::milliseconds(1);

std::unique_ptr<DeviceThread> make_thread(bool caller_may_run = false) {
  return DeviceThread::create({.name = "bench", .caller_may_run = caller_may_run},
                              [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(0)); })
      .value();
}

void require(ErrorCode answer) {
  if (answer != ErrorCode::none) throw std::runtime_error("a submit was refused");
}

/// 48 bytes, like a small launch. The sum shows that every task ran.
struct SmallTask {
  std::uint64_t* sum;
  std::array<std::uint64_t, 5> words;
  void operator()() const { *sum += words[0]; }
};
static_assert(sizeof(SmallTask) == 48);

double submit_to(DeviceThread& thread) {
  std::uint64_t sum = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kTasks; ++i) require(thread.submit(SmallTask{.sum = &sum, .words = {1, 2, 3, 4, 5}}));
  static_cast<void>(thread.call([] {}));
  const double elapsed = nanoseconds_since(start);
  if (sum != kTasks) throw std::runtime_error("a task was lost");
  return elapsed / kTasks;
}

double push_to_bare_lane(BareLane<64>& lane) {
  std::uint64_t sum = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kTasks; ++i) lane.push(SmallTask{.sum = &sum, .words = {1, 2, 3, 4, 5}});
  lane.drain();
  return nanoseconds_since(start) / kTasks;
}

double push_to_naive_queue(NaiveQueue& queue) {
  std::uint64_t sum = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kNaiveTasks; ++i) queue.push(SmallTask{.sum = &sum, .words = {1, 2, 3, 4, 5}});
  queue.call([] {});
  return nanoseconds_since(start) / kNaiveTasks;
}

double submit_from_several(DeviceThread& thread) {
  std::uint64_t sum = 0;
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> callers;
  callers.reserve(kCallers);
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&] {
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      for (int i = 0; i < kTasks / kCallers; ++i)
        require(thread.submit(SmallTask{.sum = &sum, .words = {1, 2, 3, 4, 5}}));
      static_cast<void>(thread.call([] {}));
    });
  }
  while (ready.load() != kCallers) std::this_thread::yield();
  const auto start = Clock::now();
  go.store(true);
  for (std::thread& caller : callers) caller.join();
  return nanoseconds_since(start) / kTasks;
}

std::vector<Row> submit_rows() {
  auto device = make_thread();
  const auto bare_lane = [] {
    BareLane<64> lane;
    return push_to_bare_lane(lane);
  };
  const auto naive_queue = [] {
    NaiveQueue queue;
    return push_to_naive_queue(queue);
  };
  const auto results = interleave({[&] { return submit_to(*device); }, bare_lane, naive_queue});
  return {compare({.id = "1.1",
                   .what = "submit, 48 B, sustained, drained",
                   .unit = "ns",
                   .baseline_name = "B",
                   .budget = 2},
                  results[0], results[1]),
          compare({.id = "1.2",
                   .what = "submit, 48 B, sustained, drained",
                   .unit = "ns",
                   .baseline_name = "N",
                   .budget = 0.125},
                  results[0], results[2])};
}

std::vector<Row> several_callers_rows() {
  auto device = make_thread();
  const auto bare_lane = [] {
    BareLane<64> lane;
    return push_to_bare_lane(lane);
  };
  const auto results = interleave({[&] { return submit_from_several(*device); }, bare_lane});
  return {compare({.id = "2",
                   .what = "four threads submitting, per task",
                   .unit = "ns",
                   .baseline_name = "B",
                   .budget = 3},
                  results[0], results[1])};
}

std::vector<Row> hot_call_rows() {
  // What the tasks touch is the device's, as a server's state is, and stands on no line of the caller's.
  struct alignas(64) ServerState {
    std::uint64_t calls = 0;
  };
  const auto state = std::make_unique<ServerState>();
  auto device = make_thread();
  const auto hot_calls = [&] {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      static_cast<void>(device->call([server = state.get()] { return ++server->calls; }));
    }
    return nanoseconds_since(start) / kCalls;
  };
  const auto results = interleave({hot_calls, [] { return ping_pong(kCalls); }});
  return {
      compare({.id = "3", .what = "blocking call, both hot", .unit = "ns", .baseline_name = "P", .budget = 3},
              results[0], results[1])};
}

/// How long each of two calls takes after a millisecond of idleness, taken in turn. Microseconds, by quantile
/// and round.
struct AfterIdle {
  std::vector<double> first;
  std::vector<double> second;
};

AfterIdle after_idle(const std::function<void()>& first, const std::function<void()>& second, double fraction,
                     std::vector<AfterIdle>& kept) {
  AfterIdle result;
  if (kept.empty()) {
    for (int round = 0; round < kRounds; ++round) {
      AfterIdle samples;
      for (int i = 0; i < kIdleCalls; ++i) {
        for (const bool is_first : {true, false}) {
          std::this_thread::sleep_for(kIdle);
          const auto start = Clock::now();
          is_first ? first() : second();
          (is_first ? samples.first : samples.second).push_back(nanoseconds_since(start) / 1000);
        }
      }
      kept.push_back(std::move(samples));
    }
  }
  for (const AfterIdle& samples : kept) {
    result.first.push_back(quantile(samples.first, fraction));
    result.second.push_back(quantile(samples.second, fraction));
  }
  return result;
}

std::vector<Row> call_after_idle_rows() {
  auto device = make_thread();
  auto borrowable = make_thread(true);
  NaiveQueue queue;
  LockedCall locked;
  std::uint64_t sum = 0;
  const std::function<void()> through_device = [&] { static_cast<void>(device->call([&sum] { ++sum; })); };
  const std::function<void()> through_queue = [&] { queue.call([&sum] { ++sum; }); };
  const std::function<void()> by_caller = [&] { static_cast<void>(borrowable->call([&sum] { ++sum; })); };
  const std::function<void()> under_lock = [&] { locked.call([&sum] { ++sum; }); };
  static_cast<void>(borrowable->call([] {}));

  std::vector<AfterIdle> woken;
  std::vector<AfterIdle> borrowed;
  std::vector<Row> rows;
  const auto add = [&](std::string id, std::string what, std::string baseline, double budget,
                       const AfterIdle& by) {
    rows.push_back(compare({.id = std::move(id),
                            .what = std::move(what),
                            .unit = "us",
                            .baseline_name = std::move(baseline),
                            .budget = budget},
                           by.first, by.second));
  };
  add("4.1", "blocking call after 1 ms idle, median", "N", 1,
      after_idle(through_device, through_queue, 0.5, woken));
  add("4.2", "blocking call after 1 ms idle, p99", "N", 1,
      after_idle(through_device, through_queue, 0.99, woken));
  add("4.3", "the same where the caller may run it", "D", 5,
      after_idle(by_caller, under_lock, 0.5, borrowed));
  return rows;
}

double thread_seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<Row> idle_rows() {
  auto device = make_thread();
  const clockid_t clock = device
                              ->call([] {
                                clockid_t own = 0;
                                pthread_getcpuclockid(pthread_self(), &own);
                                return own;
                              })
                              .value();
  std::vector<double> busy;
  std::vector<double> elapsed;
  for (int round = 0; round < 5; ++round) {
    const auto start = Clock::now();
    const double before = thread_seconds(clock);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    busy.push_back((thread_seconds(clock) - before) * 100);
    elapsed.push_back(nanoseconds_since(start) * 1e-9 * 100);
    static_cast<void>(device->call([] {}));
  }

  constexpr int kLone = 100;
  int not_started = 0;
  std::atomic<int> started{0};
  for (int i = 1; i <= kLone; ++i) {
    std::this_thread::sleep_for(kIdle);
    require(device->submit([&started, i] { started.store(i); }));
    const auto deadline = Clock::now() + std::chrono::milliseconds(100);
    while (started.load() != i && Clock::now() < deadline) std::this_thread::yield();
    if (started.load() != i) ++not_started;
  }
  return {compare({.id = "5.1",
                   .what = "idle device thread",
                   .unit = "%",
                   .baseline_name = "a core",
                   .budget = 0.0005},
                  busy, elapsed),
          compare({.id = "5.2",
                   .what = "lone submits that do not start by themselves",
                   .unit = "",
                   .baseline_name = "submits",
                   .budget = 0},
                  {static_cast<double>(not_started)}, {kLone})};
}

const Registration submit_budget("1", "submit to the device thread", submit_rows);
const Registration several_callers_budget("2", "four threads submitting", several_callers_rows);
const Registration hot_call_budget("3", "blocking call, both hot", hot_call_rows);
const Registration call_after_idle_budget("4", "blocking call after 1 ms idle", call_after_idle_rows);
const Registration idle_budget("5", "idle device thread", idle_rows);

}  // namespace
}  // namespace backplane::bench
