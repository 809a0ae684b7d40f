#include "client/callback_thread.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "device_thread/fork.h"
#include "device_thread/thread_name.h"

namespace backplane {
namespace {

/// Waits for many things in turn. With several outstanding, each is given a slice, so that none waits for
/// another.
class CallbackThread {
 public:
  void add(CompletionPoll poll) {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(poll));
    if (!std::exchange(started_, true)) std::thread([this] { run(); }).detach();
    wake_.notify_one();
  }

 private:
  static constexpr std::chrono::milliseconds kSlice{1};

  [[noreturn]] void run() {
    detail::set_thread_name("bp-callbacks");
    std::vector<CompletionPoll> waiting;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (waiting.empty()) wake_.wait(lock, [this] { return !added_.empty(); });
        for (CompletionPoll& poll : added_) waiting.push_back(std::move(poll));
        added_.clear();
      }
      std::erase_if(waiting, [](const CompletionPoll& poll) {
        return poll(std::chrono::steady_clock::now() + kSlice);
      });
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<CompletionPoll> added_;
  bool started_ = false;
};

}  // namespace

bool finish_on_callback_thread(CompletionPoll poll) {
  if (detail::forked()) return false;
  static auto* const thread =
      new CallbackThread;  // runs until the process ends, whatever is destroyed before
  thread->add(std::move(poll));
  return true;
}

}  // namespace backplane
