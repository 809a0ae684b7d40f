#pragma once

#include <string>
#include <string_view>

namespace backplane::detail {

/// `name` cut to what the system shows of a thread's name, 15 bytes, between characters of UTF-8.
[[nodiscard]] std::string short_thread_name(std::string_view name);

/// Names the calling thread for debuggers and profilers, as `short_thread_name` cuts it. Best effort.
void set_thread_name(std::string_view name);

}  // namespace backplane::detail
