#pragma once

#include <string>

namespace backplane {

/// The calling thread's stack, a frame to a line. Slow; any thread.
[[nodiscard]] std::string current_stack_trace();

}  // namespace backplane
