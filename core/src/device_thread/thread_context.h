#pragma once

#include <cstddef>
#include <cstdint>

// Core is linked by applications, not opened by them as a plugin, so its few bytes of thread-local storage
// can be reached without a call into the loader.
#if defined(__linux__) && defined(__GNUC__)
#define BACKPLANE_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define BACKPLANE_FAST_TLS
#endif

namespace backplane::detail {

class Lane;
class Runner;

/// Marks that this thread is running the tasks of a runner: the runner's own thread for good, a caller while
/// it has borrowed the runner. They nest where a task of one device calls another device.
struct ThreadScope {
  const Runner* runner;
  bool in_server_call;
  ThreadScope* outer;
};

struct CachedLane {
  std::uint64_t runner_id;
  Lane* lane;
};

inline constexpr std::size_t kCachedLanes = 4;

extern constinit thread_local BACKPLANE_FAST_TLS ThreadScope* innermost_scope;
// A plain array: a member call on a thread-local object fails the null check of g++ 12 at random, as that
// looks at the processor flags of an addition that the linker turns into one that sets none.
extern constinit thread_local BACKPLANE_FAST_TLS CachedLane cached_lanes[kCachedLanes];

/// The calling thread's lane to a runner, if the cache has it. Ids start at 1 and are never reused.
[[nodiscard]] inline CachedLane& lane_cache_slot(std::uint64_t runner_id) noexcept {
  return cached_lanes[runner_id % kCachedLanes];
}

/// The calling thread's mark for `runner`, or null.
[[nodiscard]] inline ThreadScope* find_scope(const Runner& runner) noexcept {
  ThreadScope* scope = innermost_scope;
  while (scope != nullptr && scope->runner != &runner) scope = scope->outer;
  return scope;
}

/// The lane this thread has registered for `runner_id`, or null.
[[nodiscard]] Lane* find_registered_lane(std::uint64_t runner_id) noexcept;

/// Remembers `lane` until the thread ends, when it is retired; takes over one reference to it. False, with
/// nothing taken, when the thread is so far in ending that nothing can be remembered. May throw
/// `std::bad_alloc`.
[[nodiscard]] bool register_lane(std::uint64_t runner_id, Lane* lane);

}  // namespace backplane::detail
