#pragma once

#include <backplane/toolkit.h>

namespace backplane::cpu {

/// What is known of this machine's processor. `invocations` limits are those of the translated code.
DeviceProperties describe_processor();

}  // namespace backplane::cpu
