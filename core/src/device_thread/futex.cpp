#include "device_thread/futex.h"

#if defined(__linux__)
#include <climits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace backplane::detail {

// The standard library's own wait spins and yields before it sleeps, which is what a caller that has just
// woken a runner must not do, and its wake takes a lock in a shared table.
#if defined(__linux__)

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#else

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  word.wait(expected, std::memory_order_relaxed);
}

void futex_wake(std::atomic<std::uint32_t>& word) noexcept {
  word.notify_all();
}

#endif

}  // namespace backplane::detail
