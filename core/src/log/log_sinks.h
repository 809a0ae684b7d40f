#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <backplane/contract/result.h>
#include <backplane/log.h>

namespace backplane {

/// Where a category's messages go beside the callback.
struct LogSinkOptions {
  std::filesystem::path file{};  ///< Empty: none.
  bool append = false;           ///< Keep what the file holds already.
  bool standard_output = false;
  bool standard_error = false;
};

/// The sinks of one category. Any thread.
class LogSinks {
 public:
  /// Error: `configuration_invalid` where the file cannot be opened. The file is private to the user.
  static Result<std::shared_ptr<LogSinks>> create(const LogSinkOptions& options);

  virtual ~LogSinks() = default;

  /// Writes one line and flushes it. Throws nothing.
  virtual void write(const LogRecord& record) noexcept = 0;
};

}  // namespace backplane
