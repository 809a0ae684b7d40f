#include "device_thread/fork.h"

#if !defined(_WIN32)
#include <mutex>

#include <pthread.h>
#endif

namespace backplane::detail {

constinit std::atomic<bool> forked_flag{false};

void watch_for_fork() {
#if !defined(_WIN32)
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { forked_flag.store(true, std::memory_order_relaxed); });
  });
#endif
}

}  // namespace backplane::detail
