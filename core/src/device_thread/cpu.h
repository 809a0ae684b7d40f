#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

// On the path of a submit, a call left standing means that the task is built on the stack and copied from
// there, and a copy that reads wider than the task was written waits until every older store has reached the
// other core.
#if defined(__GNUC__)
#define BACKPLANE_ALWAYS_INLINE [[gnu::always_inline]] inline
#elif defined(_MSC_VER)
#define BACKPLANE_ALWAYS_INLINE __forceinline
#else
#define BACKPLANE_ALWAYS_INLINE inline
#endif

namespace backplane::detail {

/// The unit in which cores exchange memory; data that different threads write is kept this far apart.
inline constexpr std::size_t kCacheLine = 64;

/// How long a thread waits on its core before it sleeps: about what waking a sleeper costs.
inline constexpr std::chrono::microseconds kSpinTime{20};

/// Tells the core that this is a waiting loop.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(_MSC_VER) && defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  __asm__ volatile("yield");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

/// Starts to fetch the line at `address`, which another core has written.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  static_cast<void>(address);
#endif
}

/// Waits on the core until `condition` holds, for at most `kSpinTime`; returns whether it holds.
template <class Condition>
[[nodiscard]] bool spin_until(Condition condition) {
  if (condition()) return true;
  constexpr int kPollsPerClock = 16;
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int poll = 0; poll < kPollsPerClock; ++poll) {
      cpu_pause();
      if (condition()) return true;
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace backplane::detail
