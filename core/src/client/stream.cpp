#include <atomic>
#include <cstdint>
#include <utility>

#include <backplane/stream.h>

namespace backplane {
namespace {

StreamId next_stream() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return {last.fetch_add(1, std::memory_order_relaxed) + 1};
}

/// Where the calling thread's work goes.
struct Current {
  StreamId stream = next_stream();
  bool in_scope = false;
};

Current& current_slot() noexcept {
  thread_local Current current;
  return current;
}

}  // namespace

Stream::Scope::Scope(StreamId stream) noexcept
    : before_(std::exchange(current_slot().stream, stream)),
      nested_(std::exchange(current_slot().in_scope, true)) {}

Stream::Scope::~Scope() {
  current_slot() = {before_, nested_};
}

Stream::Stream(std::string label) : id_(next_stream()), label_(std::move(label)) {}

StreamId Stream::current() noexcept {
  return current_slot().stream;
}

bool Stream::in_scope() noexcept {
  return current_slot().in_scope;
}

}  // namespace backplane
