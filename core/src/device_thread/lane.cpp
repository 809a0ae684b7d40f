#include "device_thread/lane.h"

#include <algorithm>
#include <thread>

#include "device_thread/futex.h"
#include "device_thread/perturb.h"
#include "device_thread/runner.h"

namespace backplane::detail {
namespace {

constexpr std::size_t kFetchAhead = 8 * kCacheLine;

void skip_to_start(RecordAction, void*, Runner*) noexcept {}

}  // namespace

Lane::Lane(std::uint32_t number)
    : number_(number), ring_(new(std::align_val_t{kCacheLine}) std::byte[kCapacity]) {}

bool Lane::refill(std::size_t size) noexcept {
  reclaim(false);
  const std::uint64_t end = reclaimed_.load(std::memory_order_acquire) + kCapacity;
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  std::uint64_t to_wrap = kCapacity - (tail & kMask);
  if (size > to_wrap) {
    if (end - tail < to_wrap) return false;
    std::construct_at(at(tail), RecordHeader{.handle = skip_to_start,
                                             .size = static_cast<std::uint16_t>(to_wrap),
                                             .retained = 0,
                                             .turn = last_turn_});
    publish(to_wrap, false, last_turn_, false);
    tail += to_wrap;
    limit_ = tail;
    to_wrap = kCapacity;
  }
  if (end - tail < size) return false;
  limit_ = std::min({end, tail + to_wrap, tail + kQuantum});
  return true;
}

bool Lane::has_room(std::size_t size) const noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const std::uint64_t to_wrap = kCapacity - (tail & kMask);
  const std::uint64_t needed = size > to_wrap ? to_wrap : size;
  return head_.load(std::memory_order_seq_cst) + kCapacity - tail >= needed;
}

void Lane::withdraw(std::uint64_t start) noexcept {
  RecordHeader* record = at(start);
  if (record->retained != 0) retained_.fetch_sub(1, std::memory_order_relaxed);
  record->handle(RecordAction::destroy, record + 1, nullptr);
  tail_.store(start, std::memory_order_relaxed);
}

void Lane::sleep_until_call_finished() noexcept {
  const std::uint32_t call = posted_.load(std::memory_order_relaxed);
  std::uint32_t response = response_.load(std::memory_order_acquire);
  while (response / kResponseFlags != call) {
    if ((response & kCallerSleeps) == 0 &&
        !response_.compare_exchange_weak(response, response | kCallerSleeps, std::memory_order_acquire)) {
      continue;
    }
    perturb();
    futex_wait(response_, response | kCallerSleeps);
    response = response_.load(std::memory_order_acquire);
  }
}

Lane::Drained Lane::drain(Runner& runner, std::size_t limit, std::uint32_t last_turn, bool looked_just_now) {
  Drained drained;
  const std::uint64_t start = read_;
  const std::uint64_t stop = start + std::min<std::uint64_t>(settled_.tail - start, limit);
  // A caller that waits for room leaves the ring this full, and cannot have started to wait behind our back.
  // Only where the look was just now is it still good enough; another costs the calling thread its line once
  // more.
  const std::uint64_t tail = looked_just_now ? seen_.tail : tail_.load(std::memory_order_acquire);
  const bool crowded = tail - start > kCapacity / 2;
  std::uint64_t published = start;
  std::uint64_t fetched = start;
  while (read_ < stop && !runner.abandoned()) {
    // Where the next record begins is known only once this one has arrived; its lines need not wait for that.
    fetched = std::max(fetched, read_);
    for (; fetched < stop && fetched < read_ + kFetchAhead; fetched += kCacheLine) prefetch(at(fetched));
    RecordHeader* record = at(read_);
    if (is_later(record->turn, last_turn)) break;
    const std::uint32_t size = record->size;
    record->handle(record->retained != 0 ? RecordAction::run : RecordAction::run_and_destroy, record + 1,
                   &runner);
    read_ += size;
    ++drained.records;
    if (read_ - published >= kQuantum) {
      published = read_;
      head_.store(read_, std::memory_order_release);
    }
  }
  if (read_ != start) head_.store(read_, crowded ? std::memory_order_seq_cst : std::memory_order_release);
  // Not sooner, so that a producer on the same core gets to write more than a few records in its turn.
  if (crowded && tail - read_ <= kCapacity / 2) wake_producer();
  if (settled_.call && read_ == settled_.tail && !is_later(call_turn_, last_turn) && !runner.abandoned()) {
    settled_.call = seen_.call = false;
    drained.call = run_call(runner);
  }
  return drained;
}

bool Lane::run_call(Runner& runner) noexcept {
  const std::uint32_t call = posted_.load(std::memory_order_relaxed);
  // Written where only the runner writes: the posted line stays with the caller. Whoever abandons the runner
  // sets its flag and then reads this, so one of the two sees the other.
  begun_.exchange(call, std::memory_order_seq_cst);
  perturb();
  if (runner.abandoned()) {
    answer_call(call * kResponseFlags + kTornDown);
    return false;
  }
  call_handler_(call_task_.data(), answer_.data());
  perturb();
  answer_call(call * kResponseFlags);
  return true;
}

void Lane::answer_call(std::uint32_t response) noexcept {
  // The caller goes on as soon as it sees this, and what it posted is gone; the lane is not.
  const std::uint32_t before = response_.exchange(response, std::memory_order_acq_rel);
  if ((before & kCallerSleeps) != 0) futex_wake(response_);
}

void Lane::close() noexcept {
  end_ = read_;
  closed_.store(true, std::memory_order_release);
}

bool Lane::quiet() noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  const bool same = tail == quiet_tail_;
  quiet_tail_ = tail;
  return same;
}

void Lane::reclaim(bool wait) noexcept {
  while (reclaiming_.exchange(true, std::memory_order_acquire)) {
    if (!wait) return;
    std::this_thread::yield();
  }
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t position = reclaimed_.load(std::memory_order_relaxed);
  while (position != head && retains()) {
    RecordHeader* record = at(position);
    position += record->size;
    if (record->retained == 0) continue;
    record->handle(RecordAction::destroy, record + 1, nullptr);
    destroyed_.store(destroyed_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  reclaimed_.store(head, std::memory_order_release);
  reclaiming_.store(false, std::memory_order_release);
}

void Lane::tear_down_call() noexcept {
  const std::uint32_t call = posted_.load(std::memory_order_seq_cst);
  if (call_begun()) return;
  answer_call(call * kResponseFlags + kTornDown);
}

void Lane::wait_for_room() noexcept {
  perturb();
  futex_wait(room_wanted_, 1);
}

void Lane::wake_producer() noexcept {
  if (room_wanted_.exchange(0, std::memory_order_seq_cst) != 0) futex_wake(room_wanted_);
}

void Lane::release_reference(Lane* lane) noexcept {
  if (lane->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete lane;  // NOLINT(*-owning-memory)
}

}  // namespace backplane::detail
