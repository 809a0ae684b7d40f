#pragma once

namespace backplane::detail {

/// A place where the order of two threads matters. Nothing, except in the stress test, which is built with
/// its own copy of these sources and pauses here at random.
#if defined(BACKPLANE_DEVICE_THREAD_PERTURB)
void perturb() noexcept;
#else
inline void perturb() noexcept {}
#endif

}  // namespace backplane::detail
