#include "baselines.h"

#include <utility>

#include "device_thread/cpu.h"

namespace backplane::bench {

template <std::size_t RecordBytes>
void BareLane<RecordBytes>::pause() {
  detail::cpu_pause();
}

template <std::size_t RecordBytes>
void BareLane<RecordBytes>::consume() {
  constexpr int kBackOff = 16;
  std::uint64_t head = 0;
  while (true) {
    const std::uint64_t end = published_.load(std::memory_order_acquire);
    if (head == end) {
      if (stop_.load(std::memory_order_relaxed)) return;
      for (int i = 0; i < kBackOff; ++i) detail::cpu_pause();
      continue;
    }
    for (; head != end; ++head) {
      Record& record = ring_[head % kRecords];
      record.function(record.payload.data());
    }
    head_.store(head, std::memory_order_release);
  }
}

template class BareLane<64>;
template class BareLane<128>;

double ping_pong(int round_trips) {
  alignas(64) std::atomic<int> ball{0};
  std::thread other([&] {
    for (int i = 0; i < round_trips; ++i) {
      while (ball.load(std::memory_order_acquire) != 2 * i + 1) {
      }
      ball.store(2 * i + 2, std::memory_order_release);
    }
  });
  const auto start = Clock::now();
  for (int i = 0; i < round_trips; ++i) {
    ball.store(2 * i + 1, std::memory_order_release);
    while (ball.load(std::memory_order_acquire) != 2 * i + 2) {
    }
  }
  const double elapsed = nanoseconds_since(start);
  other.join();
  return elapsed / round_trips;
}

NaiveQueue::~NaiveQueue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  filled_.notify_one();
  consumer_.join();
}

void NaiveQueue::push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  filled_.notify_one();
}

void NaiveQueue::call(const std::function<void()>& task) {
  std::mutex mutex;
  std::condition_variable finished;
  bool done = false;
  push([&] {
    task();
    const std::lock_guard lock(mutex);
    done = true;
    finished.notify_one();  // under the lock, as both are gone once the caller has seen `done`
  });
  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return done; });
}

void NaiveQueue::consume() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace backplane::bench
