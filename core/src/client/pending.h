#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
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
    return answer_->wait_until(deadline);
  }

  T take() { return answer_->wait(); }

 private:
  std::mutex mutex_;
  std::condition_variable delivered_;
  std::optional<Deferred<T>> answer_;
};

/// The caller's end: keeps the device open, and copies errors of the plugin's into this module's memory. `T`
/// is what the caller gets, `Answer` what the server gives: the same, or a list of which the caller gets the
/// first.
template <class T, class Answer>
class PendingState final : public IDeferredState<T> {
 public:
  PendingState(std::shared_ptr<DeviceContext> context, std::shared_ptr<Handover<Answer>> handover)
      : context_(std::move(context)), handover_(std::move(handover)) {}

  bool wait_until(typename IDeferredState<T>::TimePoint deadline) override {
    return handover_->wait_until(deadline);
  }

  T take() override {
    Answer answer = handover_->take();
    if (!answer) return Error(std::as_const(answer).error());
    if constexpr (std::is_same_v<T, Answer>) {
      return answer;
    } else {
      return std::move(answer->front());
    }
  }

  bool notify(std::function<void(T)>& callback) override {
    auto state = std::make_shared<PendingState>(context_, handover_);
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
/// `Deferred<Answer>`. Does not block.
template <class T, class Answer = T, class Ask>
Deferred<T> ask_later(const std::shared_ptr<DeviceContext>& context, Ask ask) {
  auto handover = std::make_shared<Handover<Answer>>();
  const ErrorCode refused = context->submit(AskTask<Answer, Ask>(handover, std::move(ask)));
  if (refused != ErrorCode::none) return Deferred<T>::completed(context->refusal(refused));
  return Deferred<T>(std::make_unique<PendingState<T, Answer>>(context, std::move(handover)));
}

}  // namespace backplane
