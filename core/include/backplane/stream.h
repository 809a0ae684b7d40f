#pragma once

#include <string>

#include <backplane/contract/id.h>
#include <backplane/export.h>

namespace backplane {

/// A sequence of work that runs in order. Every thread has one of its own to begin with; a `Stream` is a
/// further one, which a thread's work goes to for as long as a `Scope` of it lives. A value, usable with
/// every client and from any thread.
class BACKPLANE_API Stream {
 public:
  /// Sends the calling thread's work to a stream until it is destroyed, on the same thread, in reverse order
  /// of making.
  class BACKPLANE_API Scope {
   public:
    explicit Scope(StreamId stream) noexcept;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    StreamId before_;
    bool nested_;
  };

  /// A new stream. `label` names it in traces.
  explicit Stream(std::string label = {});

  /// The calling thread's work goes here while the returned scope lives.
  [[nodiscard]] Scope use() const noexcept { return Scope(id_); }

  [[nodiscard]] StreamId id() const noexcept { return id_; }
  [[nodiscard]] const std::string& label() const noexcept { return label_; }

  /// The stream that the calling thread's work goes to now, where `streaming.policy` is "per-thread".
  static StreamId current() noexcept;

  /// Whether that is the stream of a `Scope`.
  static bool in_scope() noexcept;

 private:
  StreamId id_;
  std::string label_;
};

}  // namespace backplane
