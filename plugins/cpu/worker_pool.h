#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace backplane::cpu {

/// Threads that stay, to share a range of work between them and the caller without starting a thread or
/// allocating anything per run.
///
/// Any thread may call `run`; runs of several threads follow one another. A chunk may not call `run` on the
/// pool that runs it: that would wait for itself.
class WorkerPool {  // NOLINT(clang-analyzer-optin.performance.Padding): cache lines of their own, on purpose.
 public:
  /// How many threads the process may run on, its affinity mask respected; at least 1.
  static std::size_t available_threads();

  /// A pool of `size` threads, the caller included, so one of 1 starts none; 0 stands for
  /// `available_threads()`. Throws `std::system_error` where a thread cannot be started.
  explicit WorkerPool(std::size_t size = 0);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  /// Waits for the threads to end. No run may be going on.
  ~WorkerPool();

  /// Threads that take part in a run, the caller included.
  std::size_t size() const { return workers_.size() + 1; }

  /// Calls `work(begin, end)` for pieces of [0, count) of at most `chunk` elements (0 counts as 1), on the
  /// caller's thread and as many workers as there are pieces left, in any order. Blocks until all are done.
  /// What the first piece to throw has thrown is thrown again here; pieces not begun by then are left out.
  template <typename Work>
  void run(std::uint64_t count, std::uint64_t chunk, Work&& work) {
    using Callable = std::remove_reference_t<Work>;
    run_erased(count, chunk,
               {.call = [](void* callable, std::uint64_t begin,
                           std::uint64_t end) { (*static_cast<Callable*>(callable))(begin, end); },
                .callable = const_cast<void*>(static_cast<const void*>(std::addressof(work)))});
  }

 private:
  struct Task {
    void (*call)(void* callable, std::uint64_t begin, std::uint64_t end) = nullptr;
    void* callable = nullptr;
  };

  /// What a worker and the caller say to each other; a cache line each, or they would slow each other down.
  struct alignas(64) Worker {
    std::atomic<std::uint32_t> ticket{0};  ///< Raised by the caller to call the worker to a run.
    std::thread thread;
  };

  void run_erased(std::uint64_t count, std::uint64_t chunk, const Task& task);
  void serve(Worker& worker);
  void take_chunks();
  void wait_for_workers();
  void keep_exception() noexcept;
  void stop();

  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex running_;  ///< Held through a run.

  // The run going on. Written by its caller before it raises tickets, read by workers after they saw theirs.
  Task task_;
  std::uint64_t count_ = 0;
  std::uint64_t chunk_ = 1;
  std::exception_ptr exception_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_stopping_{false};
  alignas(64) std::atomic<std::uint64_t> next_{0};     ///< The next chunk to take.
  alignas(64) std::atomic<std::uint32_t> working_{0};  ///< Workers called that have not finished.
};

}  // namespace backplane::cpu
