#include "device_thread/device_thread.h"

#include <system_error>
#include <vector>

#include "device_thread/fork.h"

namespace backplane {

namespace detail {

Error refusal_error(const Runner& runner, ErrorCode code) {
  const std::string name = "Device thread \"" + runner.name() + "\"";
  switch (code) {
    case ErrorCode::re_entered:
      return {code,
              name + " is inside a call into its server and cannot be entered again; call after it returns."};
    case ErrorCode::forked:
      return {code, name + " belongs to the parent process; open a new runtime after exec."};
    case ErrorCode::torn_down:
      return {code, name + " was shut down while the call waited behind a task that did not return."};
    case ErrorCode::out_of_memory:
      return {code, name + " has no memory left for the lane of a new calling thread."};
    default:
      return {code, name + " was shut down and takes no more calls."};
  }
}

namespace {

/// Runners whose thread did not end in time. Kept reachable for good: the thread may yet wake up in them.
void leave_behind(std::shared_ptr<Runner> runner) {
  static std::mutex mutex;
  static auto* left_behind =
      new std::vector<std::shared_ptr<Runner>>;  // NOLINT(*-owning-memory): never destroyed
  const std::lock_guard lock(mutex);
  left_behind->push_back(std::move(runner));
}

}  // namespace
}  // namespace detail

Result<std::unique_ptr<DeviceThread>> DeviceThread::start(Options options,
                                                          const std::function<Result<Owner>()>& make_owner) {
  if (detail::forked()) {
    return Error(ErrorCode::forked,
                 "A device cannot be opened in a child process made by fork; call exec first.");
  }
  detail::watch_for_fork();
  auto runner = std::make_shared<detail::Runner>(
      detail::RunnerOptions{.name = std::move(options.name),
                            .caller_may_run = options.caller_may_run,
                            .on_exception = std::move(options.on_exception),
                            .on_idle = std::move(options.on_idle),
                            .use_process_barrier = options.use_process_barrier});
  std::unique_ptr<DeviceThread> thread(new DeviceThread(runner));
  std::promise<void> exited;
  thread->exited_ = exited.get_future();
  std::promise<Result<void>> started;
  auto outcome = started.get_future();
  try {
    thread->thread_ = new std::thread([runner, &make_owner, &started, exited = std::move(exited)]() mutable {
      runner->run(make_owner, [&started](Result<void> result) { started.set_value(std::move(result)); });
      // Not "at thread exit", which the standard library no longer does once static objects are being
      // destroyed; the join that follows waits for the thread's own thread-local objects.
      exited.set_value();
    });
  } catch (const std::system_error& error) {
    return Error(ErrorCode::generic,
                 std::string("The device's thread cannot be started: ") + error.what() + ".");
  }
  Result<void> result = outcome.get();
  if (!result) return std::move(result).error();
  return thread;
}

DeviceThread::~DeviceThread() {
  if (detail::forked()) {
    // The runner's locks may be held by threads that do not exist here.
    // NOLINTBEGIN(bugprone-unhandled-exception-at-new): without memory there is nothing left to do
    static_cast<void>(new std::shared_ptr<detail::Runner>(std::move(runner_)));
    static_cast<void>(new std::future<void>(std::move(exited_)));
    // NOLINTEND(bugprone-unhandled-exception-at-new)
    return;
  }
  static_cast<void>(shutdown());
  if (thread_ != nullptr) {  // from one of its own tasks
    thread_->detach();
    delete thread_;
  }
}

Result<void> DeviceThread::shutdown(std::chrono::nanoseconds limit) {
  if (detail::forked()) return detail::refusal_error(*runner_, ErrorCode::forked);
  if (is_current()) {
    runner_->close();
    return {};
  }
  const std::lock_guard lock(shutdown_mutex_);
  if (shutdown_error_) return *shutdown_error_;
  if (thread_ == nullptr) return {};
  runner_->close();
  const bool ended = exited_.wait_for(limit) == std::future_status::ready;
  if (ended) {
    thread_->join();
  } else {
    runner_->abandon();
    detail::leave_behind(runner_);
    thread_->detach();
    shutdown_error_ =
        Error(ErrorCode::busy, "Device thread \"" + runner_->name() + "\" is still running a task after " +
                                   std::to_string(limit.count()) +
                                   " ns; it is left behind with its server, and their library stays loaded.");
  }
  delete std::exchange(thread_, nullptr);
  if (shutdown_error_) return *shutdown_error_;
  return {};
}

}  // namespace backplane
