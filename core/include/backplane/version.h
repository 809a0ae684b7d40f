#pragma once

#include <string_view>

#include <backplane/export.h>

namespace backplane {

/// The version of the library that is running, "0.1.0". Any thread; never fails.
[[nodiscard]] BACKPLANE_API std::string_view version() noexcept;

}  // namespace backplane
