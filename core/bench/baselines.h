#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace backplane::bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// B: a bare ring from one producer to one consumer that runs fixed-size records, published in batches. No
/// waiting but on the core, no shutdown, no results: the least that a hand-over can be. The consumer spins
/// from construction to destruction; the producer is one thread.
template <std::size_t RecordBytes>
class BareLane {
 public:
  struct alignas(16) Record {
    void (*function)(void* payload);
    std::uint64_t reserved;
    std::array<std::byte, RecordBytes - 16> payload;
  };

  BareLane() : ring_(std::make_unique<Record[]>(kRecords)), consumer_([this] { consume(); }) {}
  BareLane(const BareLane&) = delete;
  BareLane& operator=(const BareLane&) = delete;
  ~BareLane() {
    flush();
    stop_.store(true);
    consumer_.join();
  }

  template <class F>
  void push(F task) {
    static_assert(sizeof(F) <= sizeof(Record::payload));
    while (tail_ - seen_head_ == kRecords) {
      flush();
      seen_head_ = head_.load(std::memory_order_acquire);
    }
    Record& record = ring_[tail_ % kRecords];
    record.function = [](void* payload) { (*static_cast<F*>(payload))(); };
    ::new (record.payload.data()) F(task);
    if (++tail_ % kBatch == 0) flush();
  }

  void flush() { published_.store(tail_, std::memory_order_release); }

  void drain() {
    flush();
    while (head_.load(std::memory_order_acquire) != tail_) pause();
  }

 private:
  static constexpr std::size_t kRecords = std::size_t{64} * 1024 / RecordBytes;
  static constexpr std::uint64_t kBatch = 16;
  static void pause();
  void consume();

  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::uint64_t tail_ = 0;
  std::uint64_t seen_head_ = 0;
  alignas(64) std::unique_ptr<Record[]> ring_;
  std::atomic<bool> stop_{false};
  std::thread consumer_;
};

/// P: two threads that hand one cache line to and fro. Nanoseconds a round trip.
double ping_pong(int round_trips);

/// N: the queue that everyone writes first: a mutex, a condition variable and `std::function`. Any thread
/// pushes.
class NaiveQueue {
 public:
  NaiveQueue() : consumer_([this] { consume(); }) {}
  NaiveQueue(const NaiveQueue&) = delete;
  NaiveQueue& operator=(const NaiveQueue&) = delete;
  ~NaiveQueue();

  void push(std::function<void()> task);

  /// Pushes `task` and waits until it ran.
  void call(const std::function<void()>& task);

 private:
  void consume();

  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::thread consumer_;
};

/// D: a direct call under a mutex.
class LockedCall {
 public:
  template <class F>
  auto call(F&& task) {
    const std::lock_guard lock(mutex_);
    return task();
  }

 private:
  std::mutex mutex_;
};

}  // namespace backplane::bench
