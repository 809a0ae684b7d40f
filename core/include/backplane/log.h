#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include <backplane/contract/host.h>

namespace backplane {

/// One message of the log. The views are alive during the callback alone.
struct LogRecord {
  std::chrono::system_clock::time_point time;
  LogLevel level = LogLevel::info;
  std::string_view category;  ///< What the message is about: "plugin", "memory".
  std::string_view source;    ///< The plugin that wrote it; empty for the host.
  std::string_view message;   ///< A full sentence without a line end.
};

/// Receives every message that its category's level lets pass, on the thread that wrote it and under no lock
/// of ours: it may call back into the runtime, and several threads may be in it at once. What it throws is
/// dropped.
using LogCallback = std::function<void(const LogRecord&)>;

/// The level's name as it is spelled in the configuration, "warning".
[[nodiscard]] constexpr std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::trace:
      return "trace";
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      return "off";
  }
  return "unknown";
}

}  // namespace backplane
