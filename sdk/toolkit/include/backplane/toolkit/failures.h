#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <backplane/contract/id.h>
#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>
#include <backplane/toolkit/error_graph.h>
#include <backplane/toolkit/taint.h>

namespace backplane::toolkit {

/// What failure tracking keeps for an allocation.
struct TrackedMemory {
  Taint taint;
  ErrorGraph::AllocationSerial serial = 0;
};

/// A range of tracked memory that work reads or writes, in bytes.
struct TrackedRange {
  TrackedMemory* memory;         ///< Never null.
  const Allocation* allocation;  ///< For its label.
  std::uint64_t begin;
  std::uint64_t end;
};

/// A span of time on a stream in which failures count: a measurement or a recording.
using WindowId = Id<struct WindowTag>;

/// The failures of one server: which memory they left unwritten, and the operations on that which every
/// server needs. Work touches it through `ExecuteScope` alone. One thread, the server's.
class Failures {
 public:
  /// Prepares tracking for a new allocation.
  TrackedMemory track() { return {{}, ++last_serial_}; }

  /// Drops what is known of memory that goes away.
  void forget(TrackedMemory& memory);

  /// Success if every byte was produced, else why not: each failure once, `several` where there is more than
  /// one.
  [[nodiscard]] Result<void> ensure_written(std::span<const TrackedRange> ranges) const;

  /// Records that `error` of `operation` left these bytes unwritten, in place of what was recorded for them.
  void claim(std::span<const TrackedRange> ranges, Error error, std::string operation, StreamId stream);

  /// Failures that some memory still carries.
  [[nodiscard]] std::size_t size() const noexcept { return graph_.size(); }

  /// Starts counting failures on `stream`.
  WindowId open_window(StreamId stream);

  /// Ends it: success, or the first failure that happened on its stream meanwhile. Nothing for an unknown id.
  std::optional<Result<void>> close_window(WindowId window);

 private:
  friend class ExecuteScope;

  /// Enters the write set. It stays claimed if `leave` is never called.
  void enter(std::span<const TrackedRange> written);

  /// Leaves it after success: these bytes were produced.
  void release(std::span<const TrackedRange> written);

  /// The first input that carries a failure; null if none does.
  [[nodiscard]] static const TrackedRange* find_unwritten(std::span<const TrackedRange> reads) noexcept;

  /// Has `written` inherit what `needed` carries.
  void propagate(const TrackedRange& needed, std::span<const TrackedRange> written, std::string_view kernel,
                 StreamId stream);

  void replace(const TrackedRange& range, FailureId failure);
  void note_failure(StreamId stream, const Error& error);

  struct Window {
    StreamId stream;
    std::optional<Error> failure;
  };

  ErrorGraph graph_;
  std::unordered_map<WindowId, Window> windows_;
  std::uint64_t last_window_ = 0;
  ErrorGraph::AllocationSerial last_serial_ = 0;
};

/// The one way in which work changes what is known about memory. The body is a callable that returns
/// `Result<void>`; while it runs the write set is claimed, and an exception that leaves it leaves the set
/// claimed. One thread, the server's.
class ExecuteScope {
 public:
  ExecuteScope(Failures& failures, StreamId stream) : failures_(failures), stream_(stream) {}

  /// Work that always runs: host writes, replays. `operation` names it in messages.
  template <class Body>
  void over(std::string operation, std::span<const TrackedRange> written, Body&& body) {
    failures_.enter(written);
    const Result<void> outcome = std::forward<Body>(body)();
    if (outcome) return failures_.release(written);
    failures_.claim(written, outcome.error(), std::move(operation), stream_);
  }

  /// A kernel: skipped, with its outputs inheriting the failure, where an input was never produced. True if
  /// it ran.
  template <class Body>
  bool launching(std::string_view kernel, std::span<const TrackedRange> reads,
                 std::span<const TrackedRange> written, Body&& body) {
    if (const TrackedRange* needed = Failures::find_unwritten(reads)) {
      failures_.propagate(*needed, written, kernel, stream_);
      return false;
    }
    failures_.enter(written);
    const Result<void> outcome = std::forward<Body>(body)();
    if (outcome) {
      failures_.release(written);
    } else {
      failures_.claim(written, outcome.error(), "kernel \"" + std::string(kernel) + '"', stream_);
    }
    return true;
  }

 private:
  Failures& failures_;
  StreamId stream_;
};

}  // namespace backplane::toolkit
