#include "device_thread/runner.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "device_thread/futex.h"
#include "device_thread/process_barrier.h"
#include "device_thread/thread_name.h"

namespace backplane::detail {
namespace {

std::uint64_t next_runner_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Looking for work takes the lane's line away from a caller that is writing into it, so after a short batch
// the runner lets a longer one gather.
constexpr std::uint32_t kShortBatch = 64;
constexpr int kBatchPauses = 16;

constexpr std::chrono::microseconds kLongSleep = 10 * kSpinTime;

// As far ahead as turns can be told apart.
constexpr std::uint32_t kNoLaterTurn = 0x7fff'ffff;

// A runner that is never idle lets go of what quiet callers left behind this often.
constexpr std::uint32_t kRecordsBetweenSweeps = 4096;

}  // namespace

Runner::Runner(RunnerOptions options)
    : caller_may_run_(options.caller_may_run),
      ordered_(!options.use_process_barrier || !process_barrier_available()),
      id_(next_runner_id()),
      options_(std::move(options)) {}

Route Runner::route() noexcept {
  if (forked()) return {.refusal = ErrorCode::forked};
  if (const ThreadScope* scope = find_scope(*this)) {
    if (scope->in_server_call) return {.refusal = ErrorCode::re_entered};
    return {.run_here = true};
  }
  if (!open()) return {.refusal = ErrorCode::disconnected};
  if (Lane* lane = find_registered_lane(id_)) {
    lane_cache_slot(id_) = {.runner_id = id_, .lane = lane};
    return {.lane = lane};
  }
  Lane* lane = nullptr;
  try {
    const std::lock_guard lock(lanes_mutex_);
    lane = new Lane(++last_lane_);  // NOLINT(*-owning-memory): counted
    if (!takes_lanes_) {
      Lane::release_reference(lane);
      return {.refusal = ErrorCode::disconnected};
    }
    all_lanes_.push_back(lane);
    lane->acquire_reference();
    lanes_version_.fetch_add(1, std::memory_order_seq_cst);
    if (!register_lane(id_, lane)) return {.lane = lane, .one_shot = true};
    lane_cache_slot(id_) = {.runner_id = id_, .lane = lane};
    return {.lane = lane};
  } catch (const std::bad_alloc&) {
    if (lane != nullptr) end_one_shot(lane);
    return {.refusal = ErrorCode::out_of_memory};
  }
}

void Runner::end_one_shot(Lane* lane) noexcept {
  lane->retire();
  Lane::release_reference(lane);
}

RecordHeader* Runner::wait_for_room(Lane& lane, std::size_t size) noexcept {
  while (!lane.refill(size)) {
    const auto give_up = [&] { return (state_.load(std::memory_order_seq_cst) & kClosing) != 0; };
    wake();
    if (give_up()) return nullptr;
    if (spin_until([&] { return lane.has_room(size); })) continue;
    lane.sleep_until_room(size, give_up);
  }
  return lane.try_reserve(size);
}

ErrorCode Runner::published_while_not_running(Lane& lane, std::uint64_t start) noexcept {
  if ((state_.load(std::memory_order_seq_cst) & (kClosed | kAbandoned)) != 0)
    return settle_record(lane, start);
  wake();
  return ErrorCode::none;
}

// The record was published while the runner read the lanes for the last time, and it may have missed it.
ErrorCode Runner::settle_record(Lane& lane, std::uint64_t start) noexcept {
  while (!lane.closed()) {
    if (abandoned()) return ErrorCode::disconnected;
    std::this_thread::yield();
  }
  if (start < lane.end()) return ErrorCode::none;
  lane.withdraw(start);
  return ErrorCode::disconnected;
}

ErrorCode Runner::call(Lane& lane, Lane::CallHandler handler) noexcept {
  lane.post_call(handler, turn_of(lane), ordered_);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  perturb();
  const std::uint32_t state = state_.load(std::memory_order_seq_cst);
  if ((state & (kClosed | kAbandoned)) != 0) return settle_call(lane);
  if (state != kRunning) wake();
  // A caller that has just woken the runner sleeps at once: spinning, it may hold the very core that the
  // runner is to wake on.
  if (state != kRunning || !spin_until([&] { return lane.call_finished(); }))
    lane.sleep_until_call_finished();
  return lane.call_ran() ? ErrorCode::none : ErrorCode::torn_down;
}

ErrorCode Runner::settle_call(Lane& lane) noexcept {
  while (!lane.call_finished()) {
    const bool left = abandoned();
    if (left && !lane.call_begun()) return ErrorCode::torn_down;
    // Closed first: an answer comes before that.
    if (lane.closed() && !lane.call_finished()) return ErrorCode::disconnected;
    std::this_thread::yield();
  }
  return lane.call_ran() ? ErrorCode::none : ErrorCode::torn_down;
}

// Every change of a parked or borrowed state is a read-modify-write, so whoever published before it can
// neither miss the change nor be missed.
void Runner::wake() noexcept {
  std::uint32_t state = state_.load(std::memory_order_seq_cst);
  for (;;) {
    if ((state & (kParked | kParking)) != 0) {
      perturb();
      if (!state_.compare_exchange_weak(state, state & ~(kParked | kParking), std::memory_order_seq_cst))
        continue;
      futex_wake(state_);
      return;
    }
    if ((state & kBorrowed) == 0 || (state & kWanted) != 0) return;
    if (state_.compare_exchange_weak(state, state | kWanted, std::memory_order_seq_cst)) return;
  }
}

void Runner::end_borrow() noexcept {
  std::uint32_t state = kBorrowed;
  perturb();
  if (state_.compare_exchange_strong(state, kParked, std::memory_order_acq_rel)) return;
  while (!state_.compare_exchange_weak(state, state & ~(kBorrowed | kWanted), std::memory_order_acq_rel)) {
  }
  futex_wake(state_);
}

void Runner::report(const Error& error) noexcept {
  try {
    if (options_.on_exception) {
      options_.on_exception(error);
    } else {
      std::fprintf(stderr, "backplane: a task of device thread \"%s\" failed: %s\n", options_.name.c_str(),
                   error.to_string().c_str());
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): a report that fails has nowhere to go
  }
}

void Runner::close() noexcept {
  state_.fetch_or(kClosing, std::memory_order_seq_cst);
  perturb();
  wake();
  const std::lock_guard lock(lanes_mutex_);
  for (Lane* lane : all_lanes_) lane->wake_producer();
}

void Runner::abandon() noexcept {
  state_.fetch_or(kClosing | kAbandoned, std::memory_order_seq_cst);
  // A caller that posted before it could see the flag is found below; one that sees it settles by itself.
  if (!ordered_) process_barrier();
  const std::lock_guard lock(lanes_mutex_);
  for (Lane* lane : all_lanes_) {
    lane->tear_down_call();
    lane->wake_producer();
  }
}

void Runner::run(const std::function<Result<Owner>()>& make_owner,
                 const std::function<void(Result<void>)>& started) {
  set_thread_name(options_.name);
  const RunnerScope scope(*this);
  Result<Owner> owner = make_owner();
  if (!owner) {
    state_.fetch_or(kClosing, std::memory_order_seq_cst);
    finish();
    started(std::move(owner).error());
    return;
  }
  Owner kept = *std::move(owner);
  started({});
  loop();
  finish();
  if (abandoned()) {
    // Reported as left behind: nothing of it may be touched any more, the library it came from least of all.
    left_behind_ = std::move(kept);
    return;
  }
  kept.reset();
}

void Runner::loop() {
  bool slept_long = false;
  int batches = 0;  // since it last woke
  for (;;) {
    const Lane::Drained drained = run_pass();
    if (abandoned()) return;
    if (drained.any()) {
      worked_since_idle_ = true;
      records_since_sweep_ += drained.records;
      if (records_since_sweep_ >= kRecordsBetweenSweeps) sweep(false);
      ++batches;
      if (!drained.call && drained.records < kShortBatch) {
        for (int pause = 0; pause < kBatchPauses; ++pause) cpu_pause();
      }
      continue;
    }
    if (!open()) return;
    // Work that comes once in a long while will not come again soon, and a thread that spins after each has
    // used up the scheduler's favour when it is next to wake on a busy core.
    const bool expects_more = !slept_long || batches > 1;
    if (expects_more && spin_until([&] { return has_work() || !open(); })) continue;
    if (worked_since_idle_) {
      worked_since_idle_ = false;
      idle();
      continue;  // it may have taken a while
    }
    const auto before = std::chrono::steady_clock::now();
    park();
    slept_long = std::chrono::steady_clock::now() - before > kLongSleep;
    batches = 0;
  }
}

Lane::Drained Runner::run_pass() {
  if (!look_at_lanes()) return {};
  const auto pending = std::ranges::count_if(lanes_, &Lane::pending);
  for (Lane* lane : lanes_) {
    // Looking takes the line away from a caller that is writing: what is alone to have work is looked at
    // once.
    if (pending == 1 && lane->pending()) {
      lane->settle();
    } else {
      lane->look();
    }
  }
  return run_in_order();
}

// A record that was seen in one lane may have come after one in another that was looked at too early. That
// one is visible by now, in a second look, even if its lane is new. So only what the first look saw is run,
// in the order of turns; where something comes before it that only the second saw, that needs another look
// itself.
bool Runner::look_at_lanes() {
  for (Lane* lane : lanes_) lane->look();
  if (lanes_version_.load(std::memory_order_acquire) != seen_version_) {
    absorb_new_lanes();
    for (Lane* lane : lanes_) lane->look();
  }
  return std::ranges::any_of(lanes_, &Lane::pending);
}

Lane::Drained Runner::run_in_order() {
  Lane::Drained total;
  while (!abandoned()) {
    Lane* first = nullptr;
    Lane* second = nullptr;
    for (Lane* lane : lanes_) {
      if (!lane->pending()) continue;
      if (first == nullptr || Lane::is_later(first->next_turn(), lane->next_turn())) {
        second = std::exchange(first, lane);
      } else if (second == nullptr || Lane::is_later(second->next_turn(), lane->next_turn())) {
        second = lane;
      }
    }
    if (first == nullptr || !first->next_is_settled()) break;
    const std::uint32_t last_turn =
        second != nullptr ? second->next_turn() : first->next_turn() + kNoLaterTurn;
    const bool alone = second == nullptr;
    const Lane::Drained drained = first->drain(*this, Lane::kQuantum, last_turn, alone && !total.any());
    total.records += drained.records;
    total.call = total.call || drained.call;
    if (alone) break;  // whatever is left is looked at again first
  }
  return total;
}

bool Runner::has_work() const noexcept {
  if (lanes_version_.load(std::memory_order_seq_cst) != seen_version_) return true;
  return std::ranges::any_of(lanes_, [](const Lane* lane) { return lane->has_work(); });
}

void Runner::absorb_new_lanes() {
  const std::lock_guard lock(lanes_mutex_);
  seen_version_ = lanes_version_.load(std::memory_order_relaxed);
  lanes_ = all_lanes_;
}

void Runner::idle() noexcept {
  sweep(true);
  if (!options_.on_idle) return;
  try {
    options_.on_idle();
  } catch (...) {
    report(error_from_current_exception());
  }
}

// Callers destroy what they retain when they come back to the lane; this is for those that do not.
void Runner::sweep(bool all) noexcept {
  records_since_sweep_ = 0;
  for (std::size_t i = 0; i < lanes_.size();) {
    Lane* lane = lanes_[i];
    if (lane->quiet() || all) lane->reclaim(false);
    if (!lane->retired() || !lane->drained()) {
      ++i;
      continue;
    }
    lane->reclaim(true);
    lane->close();
    const std::lock_guard lock(lanes_mutex_);
    std::erase(all_lanes_, lane);
    lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(i));
    Lane::release_reference(lane);
  }
}

void Runner::park() noexcept {
  std::uint32_t state = kRunning;
  perturb();
  if (!state_.compare_exchange_strong(state, kParking, std::memory_order_seq_cst)) return;
  if (!ordered_) process_barrier();
  perturb();
  if (has_work()) wake();
  // Only now are the lanes known to be drained, so only now may a caller borrow.
  state = kParking;
  state_.compare_exchange_strong(state, kParked, std::memory_order_seq_cst);
  for (;;) {
    state = state_.load(std::memory_order_acquire);
    if ((state & (kParked | kParking | kBorrowed)) == 0) return;
    perturb();
    futex_wait(state_, state);
  }
}

void Runner::finish() noexcept {
  perturb();
  state_.fetch_or(kClosed, std::memory_order_seq_cst);
  if (!ordered_) process_barrier();
  {
    const std::lock_guard lock(lanes_mutex_);
    takes_lanes_ = false;
  }
  while (run_pass().any() && !abandoned()) perturb();
  if (abandoned()) return;
  for (Lane* lane : lanes_) {
    lane->close();
    lane->reclaim(true);
  }
  const std::lock_guard lock(lanes_mutex_);
  for (Lane* lane : all_lanes_) Lane::release_reference(lane);
  all_lanes_.clear();
  lanes_.clear();
}

Error error_from_current_exception() {
  try {
    throw;
  } catch (const Exception& exception) {
    return Error(ErrorCode::exception, "A task threw an error").caused_by(exception.error());
  } catch (const std::exception& exception) {
    return {ErrorCode::exception, exception.what()};
  } catch (...) {
    return {ErrorCode::exception, "An exception that is not a std::exception escaped a task."};
  }
}

}  // namespace backplane::detail
