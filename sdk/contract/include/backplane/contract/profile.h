#pragma once

#include <cstdint>

#include <backplane/contract/deferred.h>
#include <backplane/contract/result.h>

namespace backplane {

/// Which clock a measurement was taken on.
enum class ProfileClock : std::uint8_t {
  host = 0,    ///< The steady clock of the host, around work that was waited for.
  device = 1,  ///< The device's own; only comparable within one device.
};

/// A measured window, in nanoseconds of its clock.
struct ProfileTicks {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t nanoseconds() const noexcept { return end - begin; }
};

/// What `IServer::end_profile` answers: the times are there once the device has passed the end of the window.
struct ProfileDuration {
  ProfileClock clock;
  Deferred<Result<ProfileTicks>> ticks;
};

}  // namespace backplane
