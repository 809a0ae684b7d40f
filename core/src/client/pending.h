#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <backplane/contract/deferred.h>
#include <backplane/contract/result.h>

#include "client/callback_thread.h"
#include "client/device_context.h"
#include "device_thread/device_thread.h"

namespace backplane {

/// Where the device's thread leaves the server's answer for a caller who did not wait for it. One writer, one
/// reader.
template <class T>
class Handover {
 public:
  void deliver(Deferred<T> answer) {
    {
      const std::lock_guard lock(mutex_);
      if (answer_) return;
      answer_.emplace(std::move(answer));
    }
    delivered_.notify_all();
  }

  [[nodiscard]] bool wait_until(typename IDeferredState<T>::TimePoint deadline) {
    std::unique_lock lock(mutex_);
    // The maximum would overflow inside the wait on the system's clock.
    if (deadline == IDeferredState<T>::TimePoint::max()) {
      delivered_.wait(lock, [this] { return answer_.has_value(); });
    } else if (!delivered_.wait_until(lock, deadline, [this] { return answer_.has_value(); })) {
      return false;
    }
    lock.unlock();
    try {
      return answer_->wait_until(deadline);
    } catch (...) {
      return true;  // taking it throws too, and says what
    }
  }

  T take() { return take_guarded(*answer_); }

 private:
  std::mutex mutex_;
  std::condition_variable delivered_;
  std::optional<Deferred<T>> answer_;
};

/// The caller's end: keeps the device open. `Convert` makes what the caller gets of what the server gives.
template <class T, class Answer, class Convert>
class PendingState final : public IDeferredState<T> {
 public:
  PendingState(std::shared_ptr<DeviceContext> context, std::shared_ptr<Handover<Answer>> handover,
               Convert convert)
      : context_(std::move(context)), handover_(std::move(handover)), convert_(std::move(convert)) {}

  bool wait_until(typename IDeferredState<T>::TimePoint deadline) override {
    return handover_->wait_until(deadline);
  }

  T take() override { return convert_(handover_->take()); }

  bool notify(std::function<void(T)>& callback) override {
    auto state = std::make_shared<PendingState>(context_, handover_, convert_);
    return finish_on_callback_thread([state = std::move(state), callback](auto deadline) mutable {
      if (!state->wait_until(deadline)) return false;
      T value = state->take();
      state.reset();  // before the callback, so that whoever it tells may close the device
      callback(std::move(value));
      return true;
    });
  }

 private:
  std::shared_ptr<DeviceContext> context_;
  std::shared_ptr<Handover<Answer>> handover_;
  Convert convert_;
};

/// Asks the server on the device's thread, once; completes the answer with `torn_down` where it never comes
/// to that.
template <class Answer, class Ask>
class AskTask {
 public:
  AskTask(std::shared_ptr<Handover<Answer>> handover, Ask ask)
      : handover_(std::move(handover)), ask_(std::move(ask)) {}
  AskTask(AskTask&&) noexcept = default;
  AskTask& operator=(AskTask&&) = delete;
  AskTask(const AskTask&) = delete;
  AskTask& operator=(const AskTask&) = delete;
  ~AskTask() {
    if (handover_ != nullptr)
      fail(Error(ErrorCode::torn_down, "The device was closed before this request had its turn."));
  }

  void operator()(IServer& server) {
    Deferred<Answer> answer = ask_(server);  // where this throws, `failed` still needs the way back
    std::exchange(handover_, nullptr)->deliver(std::move(answer));
  }
  void failed(IServer& /*server*/, const Error& error) { fail(error); }

 private:
  void fail(Error error) {
    std::exchange(handover_, nullptr)->deliver(Deferred<Answer>::completed(std::move(error)));
  }

  std::shared_ptr<Handover<Answer>> handover_;
  Ask ask_;
};

/// Has the device's thread ask the server for something that completes later: `ask(IServer&)` returns a
/// `Deferred<Answer>`, of which `convert` makes what the caller gets. Does not block.
template <class T, class Answer, class Ask, class Convert>
Deferred<T> ask_later(const std::shared_ptr<DeviceContext>& context, Ask ask, Convert convert) {
  auto handover = std::make_shared<Handover<Answer>>();
  const ErrorCode refused = context->submit(AskTask<Answer, Ask>(handover, std::move(ask)));
  if (refused != ErrorCode::none) return Deferred<T>::completed(context->refusal(refused));
  return Deferred<T>(
      std::make_unique<PendingState<T, Answer, Convert>>(context, std::move(handover), std::move(convert)));
}

}  // namespace backplane
