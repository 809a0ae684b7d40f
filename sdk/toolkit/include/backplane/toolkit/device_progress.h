#pragma once

#include <cstdint>

#include <backplane/contract/id.h>
#include <backplane/contract/result.h>

namespace backplane::toolkit {

/// A point in a stream's work. Later points of a stream have larger values.
struct Fence {
  StreamId stream;
  std::uint64_t value = 0;
};

/// What memory management asks a driver about the order of work: it frees, moves and hands memory from stream
/// to stream while the device is still using it. One thread, the server's.
class IDeviceProgress {
 public:
  virtual ~IDeviceProgress() = default;
  IDeviceProgress(const IDeviceProgress&) = delete;
  IDeviceProgress& operator=(const IDeviceProgress&) = delete;

  /// The point that is reached when everything queued on `stream` until now is done. May submit what is
  /// outstanding; does not wait.
  virtual Fence mark(StreamId stream) = 0;

  /// Whether the device has passed it. Does not wait.
  virtual bool reached(const Fence& fence) = 0;

  /// Blocks until the device has passed it. On an error nothing is known: memory that depends on it is
  /// neither reused nor released.
  virtual Result<void> wait(const Fence& fence) = 0;

  /// Has what is queued on `waiter` from now on run after everything queued on `owner` until now. Does not
  /// wait.
  virtual Result<void> order(StreamId waiter, StreamId owner) = 0;

 protected:
  IDeviceProgress() = default;
};

/// The progress of a device whose work is done when the call that asked for it returns.
class SynchronousProgress final : public IDeviceProgress {
 public:
  Fence mark(StreamId stream) override { return {.stream = stream, .value = 0}; }
  bool reached(const Fence& /*fence*/) override { return true; }
  Result<void> wait(const Fence& /*fence*/) override { return {}; }
  Result<void> order(StreamId /*waiter*/, StreamId /*owner*/) override { return {}; }
};

}  // namespace backplane::toolkit
