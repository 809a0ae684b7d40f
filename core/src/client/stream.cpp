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

StreamId& current_slot() noexcept {
  thread_local StreamId current = next_stream();
  return current;
}

}  // namespace

Stream::Scope::Scope(StreamId stream) noexcept : before_(std::exchange(current_slot(), stream)) {}
Stream::Scope::~Scope() {
  current_slot() = before_;
}

Stream::Stream(std::string label) : id_(next_stream()), label_(std::move(label)) {}

StreamId Stream::current() noexcept {
  return current_slot();
}

}  // namespace backplane
