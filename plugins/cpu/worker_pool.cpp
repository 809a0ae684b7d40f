#include "worker_pool.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif
#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace backplane::cpu {
namespace {

// About as long as waking a parked thread takes: launches that follow one another closely find the workers
// awake.
constexpr int kSpins = 2000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

/// Waits until `value` is no longer `old`, awake for a little while, then parked.
template <typename T>
void wait_for_change(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (value.load(std::memory_order_acquire) != old) {
      return;
    }
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

void name_thread([[maybe_unused]] std::thread& thread, [[maybe_unused]] std::size_t index) {
#if defined(__linux__)
  pthread_setname_np(thread.native_handle(), ("bp-cpu-" + std::to_string(index)).substr(0, 15).c_str());
#endif
}

}  // namespace

std::size_t WorkerPool::available_threads() {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    return static_cast<std::size_t>(std::max(CPU_COUNT(&allowed), 1));
  }
#endif
  return std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

WorkerPool::WorkerPool(std::size_t size) {
  const std::size_t wanted = size == 0 ? available_threads() : size;
  workers_.reserve(wanted - 1);
  try {
    for (std::size_t index = 1; index < wanted; ++index) {
      workers_.push_back(std::make_unique<Worker>());
      Worker& worker = *workers_.back();
      worker.thread = std::thread([this, &worker] { serve(worker); });
      name_thread(worker.thread, index);
    }
  } catch (...) {
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() {
  stop();
}

void WorkerPool::stop() {
  is_stopping_.store(true, std::memory_order_relaxed);
  for (const auto& worker : workers_) {
    worker->ticket.fetch_add(1, std::memory_order_release);
    worker->ticket.notify_one();
  }
  for (const auto& worker : workers_) {
    if (worker->thread.joinable()) {
      worker->thread.join();
    }
  }
}

void WorkerPool::serve(Worker& worker) {
  std::uint32_t seen = 0;
  while (true) {
    wait_for_change(worker.ticket, seen);
    const std::uint32_t now = worker.ticket.load(std::memory_order_acquire);
    if (now == seen) {
      continue;
    }
    seen = now;
    if (is_stopping_.load(std::memory_order_relaxed)) {
      return;
    }
    take_chunks();
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      working_.notify_one();
    }
  }
}

void WorkerPool::keep_exception() noexcept {
  if (!has_failed_.exchange(true, std::memory_order_relaxed)) {
    // Its one reader is the caller, once no worker is left working.
    exception_ = std::current_exception();
  }
}

void WorkerPool::take_chunks() {
  const std::uint64_t chunks = (count_ - 1) / chunk_ + 1;
  while (!has_failed_.load(std::memory_order_relaxed)) {
    const std::uint64_t taken = next_.fetch_add(1, std::memory_order_relaxed);
    if (taken >= chunks) {
      return;
    }
    const std::uint64_t begin = taken * chunk_;
    try {
      task_.call(task_.callable, begin, begin + std::min(chunk_, count_ - begin));
    } catch (...) {
      keep_exception();
    }
  }
}

void WorkerPool::wait_for_workers() {
  std::uint32_t left = working_.load(std::memory_order_acquire);
  while (left != 0) {
    wait_for_change(working_, left);
    left = working_.load(std::memory_order_acquire);
  }
}

void WorkerPool::run_erased(std::uint64_t count, std::uint64_t chunk, const Task& task) {
  if (count == 0) {
    return;
  }
  const std::uint64_t size = std::max<std::uint64_t>(chunk, 1);
  if (count <= size) {
    task.call(task.callable, 0, count);
    return;
  }
  std::exception_ptr thrown;
  {
    const std::lock_guard<std::mutex> lock(running_);
    task_ = task;
    count_ = count;
    chunk_ = size;
    has_failed_.store(false, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    const std::uint64_t others = (count - 1) / size;
    const std::size_t called = std::min<std::uint64_t>(others, workers_.size());
    working_.store(static_cast<std::uint32_t>(called), std::memory_order_relaxed);
    for (std::size_t index = 0; index < called; ++index) {
      workers_[index]->ticket.fetch_add(1, std::memory_order_release);
      workers_[index]->ticket.notify_one();
    }
    take_chunks();
    wait_for_workers();
    thrown = std::exchange(exception_, nullptr);
  }
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace backplane::cpu
