#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace backplane {

/// What stands behind a `Deferred`: something that completes later. Called by one thread at a time, which
/// need not be the thread that made it. Destroying one before it completed must not block.
template <class T>
class IDeferredState {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~IDeferredState() = default;

  /// Blocks until complete or `deadline`, whichever is first; a deadline in the past only asks. True when
  /// complete.
  virtual bool wait_until(TimePoint deadline) = 0;

  /// The value. Requires that `wait_until` returned true; called once.
  virtual T take() = 0;

  /// Runs `callback` with the value once complete, on a thread of the implementation's choosing or at once,
  /// instead of `take`. False, with `callback` untouched, where the implementation has no thread to do that
  /// on: the default.
  virtual bool notify(std::function<void(T)>& callback) {
    static_cast<void>(callback);
    return false;
  }
};

/// A value that becomes available later, when a device has done its work. Move-only, for one thread at a
/// time. Dropping it abandons the value and never blocks.
template <class T>
class [[nodiscard]] Deferred {
 public:
  using TimePoint = typename IDeferredState<T>::TimePoint;

  explicit Deferred(std::unique_ptr<IDeferredState<T>> state) noexcept : state_(std::move(state)) {}

  /// One that is complete already. Does not allocate.
  static Deferred completed(T value) { return Deferred(std::move(value)); }

  /// False once the value was taken.
  [[nodiscard]] bool valid() const noexcept { return value_.has_value() || state_ != nullptr; }

  /// Whether `wait` would return at once. Does not block. Requires `valid()`.
  [[nodiscard]] bool ready() { return wait_until(TimePoint::min()); }

  /// Blocks until ready or `deadline`, whichever is first; true when ready. After a timeout the value can
  /// still be waited for. Requires `valid()`.
  [[nodiscard]] bool wait_until(TimePoint deadline) { return value_ || state_->wait_until(deadline); }

  /// Likewise, for at most `timeout`; one too long for the clock means for good.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) {
    using Seconds = std::chrono::duration<double>;  // holds what would overflow the clock's own ticks
    const TimePoint now = std::chrono::steady_clock::now();
    if (Seconds(timeout) >= Seconds(TimePoint::max() - now)) return wait_until(TimePoint::max());
    return wait_until(now + std::chrono::duration_cast<typename TimePoint::duration>(timeout));
  }

  /// Blocks until ready and takes the value. Requires `valid()`.
  T wait() {
    if (value_) return *std::exchange(value_, std::nullopt);
    state_->wait_until(TimePoint::max());
    return std::exchange(state_, nullptr)->take();
  }

  /// Hands the value to `callback` once ready, on a thread of the runtime's choosing and possibly before this
  /// returns; takes the value. `callback` must not throw. A state that cannot notify is waited for here.
  void on_ready(std::function<void(T)> callback) {
    if (!value_ && state_->notify(callback)) {
      state_.reset();
      return;
    }
    callback(wait());
  }

 private:
  explicit Deferred(T value) : value_(std::move(value)) {}

  std::unique_ptr<IDeferredState<T>> state_;
  std::optional<T> value_;
};

}  // namespace backplane
