#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <backplane/contract/result.h>

#include "device_thread/runner.h"

namespace backplane {

namespace detail {

template <class T>
struct CallResultOf {
  using type = Result<T>;
};
template <class T>
struct CallResultOf<Result<T>> {
  using type = Result<T>;
};

/// What a blocking call of `F` answers: `Result<T>` where it returns `T` or `Result<T>`.
template <class F>
using CallResult = typename CallResultOf<std::invoke_result_t<F&>>::type;

/// Runs `task`; an exception becomes an error.
template <class F>
CallResult<F> run_guarded(F& task) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      task();
      return {};
    } else {
      return CallResult<F>(task());
    }
  } catch (...) {
    return error_from_current_exception();
  }
}

/// A callable too large or too strictly aligned for a lane.
template <class F>
class BoxedTask {
 public:
  template <class G>
  explicit BoxedTask(std::in_place_t, G&& task) : task_(std::make_unique<F>(std::forward<G>(task))) {}
  void operator()() { (*task_)(); }

 private:
  std::unique_ptr<F> task_;
};

template <class F>
inline constexpr std::size_t kRecordSize = (sizeof(RecordHeader) + sizeof(F) + 15) / 16 * 16;

template <class F>
void handle_record(RecordAction action, void* payload, Runner* runner) noexcept {
  F& task = *std::launder(static_cast<F*>(payload));
  if (action != RecordAction::destroy) {
    try {
      task();
    } catch (...) {
      runner->report(error_from_current_exception());
    }
  }
  if (action != RecordAction::run) std::destroy_at(&task);
}

/// A blocking call as it is posted in a lane. A task that is plain data is posted itself and a small answer
/// comes back in the lane, so that neither core has to fetch the caller's stack.
template <class Task, class Answer>
struct PostedCall {
  static constexpr bool kTaskInside =
      std::is_trivially_copyable_v<Task> && std::is_invocable_v<const Task&> &&
      sizeof(Task) <= Lane::kCallBytes - sizeof(void*) && alignof(Task) <= alignof(void*);
  static constexpr bool kAnswerInside =
      sizeof(Answer) <= Lane::kAnswerBytes && alignof(Answer) <= alignof(void*);

  std::conditional_t<kTaskInside, Task, Task*> task;
  std::optional<Answer>* answer;  // unless it comes back in the lane

  static void handle(void* posted, void* room) noexcept {
    PostedCall& call = *std::launder(static_cast<PostedCall*>(posted));
    Task* task = nullptr;
    if constexpr (kTaskInside) {
      task = &call.task;
    } else {
      task = call.task;
    }
    if constexpr (kAnswerInside) {
      ::new (room) Answer(run_guarded(*task));
    } else {
      call.answer->emplace(run_guarded(*task));
    }
  }
};

template <class Task, class Answer = CallResult<Task>>
Answer call_through_lane(Runner& runner, Lane& lane, Task& task) {
  using Posted = PostedCall<Task, Answer>;
  static_assert(sizeof(Posted) <= Lane::kCallBytes);
  std::optional<Answer> outside;
  if constexpr (Posted::kTaskInside) {
    ::new (lane.call_task()) Posted{task, &outside};
  } else {
    ::new (lane.call_task()) Posted{&task, &outside};
  }
  const ErrorCode refusal = runner.call(lane, &Posted::handle);
  if (refusal != ErrorCode::none) return refusal_error(runner, refusal);
  if constexpr (Posted::kAnswerInside) {
    Answer* inside = std::launder(static_cast<Answer*>(lane.call_answer()));
    Answer answer = std::move(*inside);
    std::destroy_at(inside);
    return answer;
  } else {
    return *std::move(outside);
  }
}

}  // namespace detail

/// Runs the work of one device on one thread, in the order in which each calling thread hands it over, and of
/// threads that synchronise with each other in that order too: what one handed over before another learned of
/// it runs before what the other hands over then. Any thread may call it, also several at once; the
/// destructor, as ever, comes after the last call.
///
/// Tasks are callables. They run on the device's thread, or on a caller that stands in for it while it
/// sleeps; never two at a time. A task may use the device thread itself: what it submits or calls runs at
/// once, on the spot. Inside a `ServerCallScope` that is refused with `re_entered`, because the server is in
/// the middle of something.
class DeviceThread {
 public:
  static constexpr std::chrono::nanoseconds kDefaultShutdownLimit = std::chrono::seconds(10);

  struct Options {
    /// Shown by debuggers and in errors. The system shows its first 15 bytes.
    std::string name;
    /// Lets a blocking call run on its caller while the device's thread sleeps. Requires that the owner does
    /// not care which thread it is used from, as long as it is one at a time.
    bool caller_may_run = false;
    /// Told of an exception that escaped a submitted task, where the task ran. Must not throw. Default:
    /// writes a line to the standard error stream.
    std::function<void(const Error&)>
        on_exception{};  // NOLINT(*-redundant-member-init): may be left out of an initializer
    /// Runs on the device's thread when it has run out of work and before it sleeps, once per idle period.
    std::function<void()> on_idle{};  // NOLINT(*-redundant-member-init)
    /// For tests: false uses the slower way of noticing work that systems without a process barrier need.
    bool use_process_barrier = true;
  };

  /// Starts the thread and makes its owner on it: `make_owner` is called once, there, and returns a
  /// `Result<std::unique_ptr<T>>` or `Result<std::shared_ptr<T>>`; what it made is destroyed on that thread,
  /// after the last task. Blocks until it is made. Errors: those of `make_owner`, an exception that escapes
  /// it, `forked`, and `generic` if no thread can be started.
  template <class MakeOwner>
  [[nodiscard]] static Result<std::unique_ptr<DeviceThread>> create(Options options, MakeOwner&& make_owner) {
    return start(std::move(options), [&make_owner]() -> Result<std::shared_ptr<void>> {
      auto owner = detail::run_guarded(make_owner);
      if (!owner) return std::move(owner).error();
      return std::shared_ptr<void>(*std::move(owner));
    });
  }

  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  /// Shuts down with the default limit, if that was not done. In a child of `fork`, does nothing.
  ~DeviceThread();

  /// Sets `Options::caller_may_run` where it only became known with the owner. Before any other call.
  void set_caller_may_run(bool may) noexcept { runner_->set_caller_may_run(may); }

  /// Hands over `task` to be run after everything this thread handed over before. It is moved into the lane,
  /// run, and destroyed right after, all without a lock, an allocation (up to 8 KiB) or a system call, unless
  /// the device's thread sleeps and is woken. Does not wait for it to run; waits for room while the lane is
  /// full. There is nothing to flush. Answers `none`, or with the task not run: `disconnected` after shutdown
  /// began, `forked`, `re_entered`, `out_of_memory`. An exception that escapes it goes to
  /// `Options::on_exception`.
  template <class F>
    requires std::invocable<std::decay_t<F>&>
  BACKPLANE_ALWAYS_INLINE ErrorCode submit(F&& task) {
    return enqueue<false>(std::forward<F>(task));
  }

  /// As `submit`, but `task` is destroyed by the calling thread, so that reference counts it holds do not
  /// travel between cores: when the lane comes round to its place, after every blocking call of this thread,
  /// and when this thread ends. If this thread goes quiet, the device's thread does it when it is next idle
  /// or, kept busy by others, within some thousand tasks; after `shutdown` all are destroyed. Its destructor
  /// must not use this device thread.
  template <class F>
    requires std::invocable<std::decay_t<F>&>
  BACKPLANE_ALWAYS_INLINE ErrorCode submit_retained(F&& task) {
    return enqueue<true>(std::forward<F>(task));
  }

  /// Runs `task` after everything this thread handed over before and returns what it returns: `Result<T>` for
  /// a `T` or a `Result<T>`. Blocks. Everything submitted with `submit_retained` before was run and is
  /// destroyed on return. Errors: those of `task`, `exception` if one escaped it, and with the task not run:
  /// `disconnected`, `forked`, `re_entered`, `out_of_memory`, `torn_down` if a shutdown gave up on what was
  /// before it. `task` is not copied: it may refer to the caller's variables.
  template <class F>
    requires std::invocable<F&>
  detail::CallResult<std::remove_reference_t<F>> call(F&& task);

  /// What an answer of `submit` other than `none` means, as an error.
  [[nodiscard]] Error refusal(ErrorCode code) const { return detail::refusal_error(*runner_, code); }

  /// Whether the calling thread is running a task of this device now.
  [[nodiscard]] bool is_current() const noexcept { return detail::find_scope(*runner_) != nullptr; }

  /// Takes no more work, runs what was handed over, destroys the owner and joins the thread. Blocks for at
  /// most `limit`. If the task that runs then has not returned, answers `busy` and leaves the thread behind
  /// on purpose, with the owner and every task not run: whatever library they came from must stay loaded.
  /// Callers that wait behind that task get `torn_down`; the caller that waits for the task itself goes on
  /// waiting, as the task may use its variables. From a task of this device, only begins: the thread ends by
  /// itself after the task. Errors: `busy`, `forked`. Later calls answer what the first did.
  Result<void> shutdown(std::chrono::nanoseconds limit = kDefaultShutdownLimit);

 private:
  using Owner = detail::Runner::Owner;

  explicit DeviceThread(std::shared_ptr<detail::Runner> runner) : runner_(std::move(runner)) {}
  static Result<std::unique_ptr<DeviceThread>> start(Options options,
                                                     const std::function<Result<Owner>()>& make_owner);

  template <bool Retained, class F>
  BACKPLANE_ALWAYS_INLINE ErrorCode enqueue(F&& task) {
    detail::Lane* lane = cached_lane();
    if (lane == nullptr) [[unlikely]] {
      // A task whose address is taken would have to stand in memory on the path below, too.
      std::decay_t<F> moved(std::forward<F>(task));
      return enqueue_without_lane<Retained>(std::move(moved));
    }
    return push<Retained>(*lane, std::forward<F>(task));
  }
  template <bool Retained, class F>
  ErrorCode enqueue_without_lane(F&& task);
  template <bool Retained, class F>
  BACKPLANE_ALWAYS_INLINE ErrorCode push(detail::Lane& lane, F&& task);

  /// The calling thread's lane, where nothing stands against using it.
  [[nodiscard]] detail::Lane* cached_lane() const noexcept {
    const detail::CachedLane& slot = detail::lane_cache_slot(runner_->id());
    if (slot.runner_id != runner_->id() || !runner_->open() || detail::forked()) return nullptr;
    return slot.lane;
  }

  std::shared_ptr<detail::Runner> runner_;
  std::thread* thread_ = nullptr;  // leaked in a child of fork, which cannot destroy it
  std::future<void> exited_;
  std::mutex shutdown_mutex_;
  std::optional<Error> shutdown_error_;
};

/// Marks, for its life, that the calling thread is inside a call into a device's server. Set by whoever makes
/// such calls from tasks; no effect on other threads.
class ServerCallScope {
 public:
  ServerCallScope() noexcept
      : scope_(detail::innermost_scope), before_(scope_ != nullptr && scope_->in_server_call) {
    if (scope_ != nullptr) scope_->in_server_call = true;
  }
  ServerCallScope(const ServerCallScope&) = delete;
  ServerCallScope& operator=(const ServerCallScope&) = delete;
  ~ServerCallScope() {
    if (scope_ != nullptr) scope_->in_server_call = before_;
  }

 private:
  detail::ThreadScope* scope_;
  bool before_;
};

template <bool Retained, class F>
ErrorCode DeviceThread::enqueue_without_lane(F&& task) {
  const detail::Route route = runner_->route();
  if (route.refusal != ErrorCode::none) return route.refusal;
  if (route.run_here) {
    std::decay_t<F> here(std::forward<F>(task));
    detail::handle_record<std::decay_t<F>>(detail::RecordAction::run, &here, runner_.get());
    return ErrorCode::none;
  }
  const ErrorCode answer = push<Retained>(*route.lane, std::forward<F>(task));
  if (route.one_shot) runner_->end_one_shot(route.lane);
  return answer;
}

template <bool Retained, class F>
BACKPLANE_ALWAYS_INLINE ErrorCode DeviceThread::push(detail::Lane& lane, F&& task) {
  using Plain = std::decay_t<F>;
  constexpr bool kFits = alignof(Plain) <= alignof(detail::RecordHeader) &&
                         detail::kRecordSize<Plain> <= detail::Lane::kLargestRecord;
  using Task = std::conditional_t<kFits, Plain, detail::BoxedTask<Plain>>;
  constexpr std::size_t kSize = detail::kRecordSize<Task>;

  detail::Runner& runner = *runner_;
  detail::RecordHeader* record = lane.try_reserve(kSize);
  if (record == nullptr) [[unlikely]] {
    record = runner.wait_for_room(lane, kSize);
    if (record == nullptr) return ErrorCode::disconnected;
  }
  void* payload = record + 1;
  if constexpr (kFits) {
    ::new (payload) Task(std::forward<F>(task));
  } else {
    ::new (payload) Task(std::in_place, std::forward<F>(task));
  }
  const std::uint32_t turn = runner.turn_of(lane);
  ::new (static_cast<void*>(record)) detail::RecordHeader{
      .handle = detail::handle_record<Task>, .size = kSize, .retained = Retained, .turn = turn};
  const std::uint64_t start = lane.tail();
  lane.publish(kSize, Retained, turn, runner.ordered());
  return runner.published(lane, start);
}

template <class F>
  requires std::invocable<F&>
detail::CallResult<std::remove_reference_t<F>> DeviceThread::call(
    F&& task) {  // NOLINT(*-missing-std-forward)
  using Task = std::remove_reference_t<F>;
  using Answer = detail::CallResult<Task>;
  detail::Runner& runner = *runner_;
  detail::Lane* lane = cached_lane();
  if (!detail::forked() && runner.try_borrow()) {
    Answer answer = [&] {
      const detail::RunnerScope scope(runner);
      return detail::run_guarded(task);
    }();
    runner.end_borrow();
    if (lane != nullptr && lane->retains()) lane->reclaim(true);
    return answer;
  }
  detail::Route route{.lane = lane};
  if (lane == nullptr) {
    route = runner.route();
    if (route.run_here) return detail::run_guarded(task);
  }
  if (route.refusal != ErrorCode::none) return detail::refusal_error(runner, route.refusal);
  Answer answer = detail::call_through_lane(runner, *route.lane, task);
  if (route.lane->retains()) route.lane->reclaim(true);
  if (route.one_shot) runner.end_one_shot(route.lane);
  return answer;
}

}  // namespace backplane
