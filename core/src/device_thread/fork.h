#pragma once

#include <atomic>

namespace backplane::detail {

extern constinit std::atomic<bool> forked_flag;

/// Makes `forked()` tell the truth from now on. Any thread, any number of times. Called by what starts
/// threads or opens drivers, so that a process that forks first and opens a runtime later is not affected.
void watch_for_fork();

/// Whether this is a child made by `fork` after `watch_for_fork`. Threads, drivers and locks of the parent do
/// not exist here: calls answer `forked`, and destructors touch nothing but host memory. One relaxed load.
[[nodiscard]] inline bool forked() noexcept {
  return forked_flag.load(std::memory_order_relaxed);
}

}  // namespace backplane::detail
