#include "device_thread/process_barrier.h"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace backplane::detail {

#if defined(__linux__) && defined(SYS_membarrier)

bool process_barrier_available() noexcept {
  static const bool available = [] {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  }();
  return available;
}

void process_barrier() noexcept {
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

#else

bool process_barrier_available() noexcept {
  return false;
}
void process_barrier() noexcept {}

#endif

}  // namespace backplane::detail
