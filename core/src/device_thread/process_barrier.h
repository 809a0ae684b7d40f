#pragma once

namespace backplane::detail {

/// Prepares `process_barrier` for this process; false where the system has none, and then both sides of a
/// handshake must use sequentially consistent operations. Any thread; cheap after the first call.
[[nodiscard]] bool process_barrier_available() noexcept;

/// Makes every other thread of the process pass a full memory barrier. It lets the side of a handshake that
/// runs often do without one: a submit stores its record and then looks whether the runner sleeps, and only
/// the runner, before it sleeps, pays. Requires `process_barrier_available()`.
void process_barrier() noexcept;

}  // namespace backplane::detail
