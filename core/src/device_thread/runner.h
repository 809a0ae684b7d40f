#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <backplane/contract/result.h>

#include "device_thread/cpu.h"
#include "device_thread/fork.h"
#include "device_thread/lane.h"
#include "device_thread/perturb.h"
#include "device_thread/thread_context.h"

namespace backplane::detail {

/// Where a task goes that did not find its lane in the cache.
struct Route {
  ErrorCode refusal = ErrorCode::none;
  bool run_here = false;
  Lane* lane = nullptr;
  bool one_shot = false;  // the thread is ending: retire the lane after this task
};

/// How a runner is set up; see `DeviceThread::Options`.
struct RunnerOptions {
  std::string name;
  bool caller_may_run = false;
  std::function<void(const Error&)> on_exception;
  std::function<void()> on_idle;
  bool use_process_barrier = true;
};

/// What a device thread and its callers share: the state word they meet on, the lanes, and the loop. Lives
/// until the last of them let go. Methods say which thread calls them.
class Runner : public std::enable_shared_from_this<Runner> {
 public:
  using Owner = std::shared_ptr<void>;

  explicit Runner(RunnerOptions options);

  // Any calling thread.

  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] bool open() const noexcept {
    return (state_.load(std::memory_order_relaxed) & kClosing) == 0;
  }
  /// Whether callers must publish in sequentially consistent order, for want of a process barrier.
  [[nodiscard]] bool ordered() const noexcept { return ordered_; }

  /// Decides for a task of the calling thread that has no cached lane. Makes the lane if there is none.
  [[nodiscard]] Route route() noexcept;
  void end_one_shot(Lane* lane) noexcept;

  /// Room for a record, waiting while the lane is full; null once the runner takes no more.
  [[nodiscard]] RecordHeader* wait_for_room(Lane& lane, std::size_t size) noexcept;

  /// The turn in which `lane` writes now. A turn ends when another lane writes, so turns order records like
  /// the threads do that synchronise with each other: a thread that knows of another's record finds that it
  /// is no longer its own turn, and takes a later one. Lanes that have the runner to themselves pay one load.
  [[nodiscard]] std::uint32_t turn_of(const Lane& lane) noexcept {
    std::uint64_t turn = turn_.load(std::memory_order_relaxed);
    while (static_cast<std::uint32_t>(turn) != lane.number()) {
      const std::uint64_t next = ((turn >> 32U) + 1) << 32U | lane.number();
      if (turn_.compare_exchange_weak(turn, next, std::memory_order_relaxed))
        return static_cast<std::uint32_t>(next >> 32U);
    }
    return static_cast<std::uint32_t>(turn >> 32U);
  }

  /// After the record that began at `start` was published: wakes the runner if it sleeps.
  ErrorCode published(Lane& lane, std::uint64_t start) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    perturb();
    if (state_.load(std::memory_order_seq_cst) == kRunning) [[likely]] {
      return ErrorCode::none;
    }
    return published_while_not_running(lane, start);
  }

  /// Runs a call through the lane and waits for it. `none` if it ran.
  [[nodiscard]] ErrorCode call(Lane& lane, Lane::CallHandler handler) noexcept;

  /// Whether `try_borrow` may succeed. Before any call.
  void set_caller_may_run(bool may) noexcept { caller_may_run_ = may; }

  /// Takes the runner's place while it is parked, which it is only with every lane drained.
  [[nodiscard]] bool try_borrow() noexcept {
    std::uint32_t parked = kParked;
    return caller_may_run_ && state_.load(std::memory_order_relaxed) == kParked &&
           state_.compare_exchange_strong(parked, kBorrowed, std::memory_order_acq_rel);
  }
  void end_borrow() noexcept;

  void report(const Error& error) noexcept;

  // The thread that shuts down.

  void close() noexcept;
  /// Gives up on a runner that does not finish: callers that wait behind its task are told.
  void abandon() noexcept;

  // The runner's thread.

  /// Runs tasks until closed, then destroys the owner that `make_owner` made. `started` is told how that
  /// went.
  void run(const std::function<Result<Owner>()>& make_owner,
           const std::function<void(Result<void>)>& started);

  [[nodiscard]] bool abandoned() const noexcept {
    return (state_.load(std::memory_order_seq_cst) & kAbandoned) != 0;
  }
  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }

 private:
  // The state word: one of the first four, with flags.
  static constexpr std::uint32_t kRunning = 0;
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kBorrowed = 2;
  static constexpr std::uint32_t kWanted =
      4;  // with kBorrowed: something was pushed, wake the runner afterwards
  static constexpr std::uint32_t kClosing = 8;
  static constexpr std::uint32_t kClosed = 16;  // lanes are being read for the last time
  static constexpr std::uint32_t kAbandoned = 32;
  static constexpr std::uint32_t kParking =
      64;  // not yet kParked: lanes may hold work that nobody will announce

  ErrorCode published_while_not_running(Lane& lane, std::uint64_t start) noexcept;
  ErrorCode settle_record(Lane& lane, std::uint64_t start) noexcept;
  ErrorCode settle_call(Lane& lane) noexcept;
  void wake() noexcept;

  void loop();
  Lane::Drained run_pass();
  [[nodiscard]] bool look_at_lanes();
  Lane::Drained run_in_order();
  [[nodiscard]] bool has_work() const noexcept;
  void absorb_new_lanes();
  void idle() noexcept;
  void sweep(bool all) noexcept;
  void park() noexcept;
  void finish() noexcept;

  // Read by every caller, written when the runner sleeps or wakes.
  alignas(kCacheLine) std::atomic<std::uint32_t> state_{kRunning};
  bool caller_may_run_;
  const bool ordered_;
  const std::uint64_t id_;

  // Whose turn it is: the turn's number, above the lane's.
  alignas(kCacheLine) std::atomic<std::uint64_t> turn_{0};

  alignas(kCacheLine) RunnerOptions options_;
  std::mutex lanes_mutex_;
  std::vector<Lane*> all_lanes_;  // guarded by the mutex; one reference each
  std::uint32_t last_lane_ = 0;   // guarded by the mutex
  bool takes_lanes_ = true;       // guarded by the mutex
  std::atomic<std::uint64_t> lanes_version_{0};

  std::vector<Lane*> lanes_;  // the runner's own view
  std::uint64_t seen_version_ = 0;
  std::uint32_t records_since_sweep_ = 0;
  bool worked_since_idle_ = false;
  Owner left_behind_;
};

/// Marks the calling thread as running the tasks of `runner`, and hides its lane to it, for the life of the
/// object.
class RunnerScope {
 public:
  explicit RunnerScope(Runner& runner) noexcept
      : slot_(lane_cache_slot(runner.id())),
        cached_(slot_),
        scope_{.runner = &runner, .in_server_call = false, .outer = innermost_scope} {
    slot_ = {};
    innermost_scope = &scope_;
  }
  RunnerScope(const RunnerScope&) = delete;
  RunnerScope& operator=(const RunnerScope&) = delete;
  ~RunnerScope() {
    innermost_scope = scope_.outer;
    slot_ = cached_;
  }

 private:
  CachedLane& slot_;
  CachedLane cached_;
  ThreadScope scope_;
};

/// The exception being handled, as an error: its text if it is a `std::exception`.
[[nodiscard]] Error error_from_current_exception();

/// Why `runner` did not run a call.
[[nodiscard]] Error refusal_error(const Runner& runner, ErrorCode code);

}  // namespace backplane::detail
