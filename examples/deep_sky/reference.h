#pragma once

#include "detection.h"
#include "picture.h"

namespace deep_sky {

/// The same detection by plain loops on the host, in double precision where the device uses single.
Detection detect_on_host(const Picture& picture, const Settings& settings);

}  // namespace deep_sky
