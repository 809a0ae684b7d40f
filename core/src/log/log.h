#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <backplane/contract/host.h>
#include <backplane/contract/result.h>
#include <backplane/log.h>

namespace backplane {

class Configuration;
class LogCategory;

/// The log of a runtime: categories, each with a level and sinks, and the application's callback. Works from
/// its construction on, with warnings on the standard error stream, until `configure` says otherwise. Any
/// thread. Loggers outlive the log.
class Log {
 public:
  /// With a callback, messages go to it instead of the standard error stream.
  explicit Log(LogCallback callback = {});

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  /// Applies `log.CATEGORY` of the configuration; `log.default` holds for categories that have none of their
  /// own. Loggers handed out before change along. Error: `configuration_invalid` where a log file cannot be
  /// opened; the other categories are configured all the same.
  Result<void> configure(const Configuration& configuration);

  /// The logger of a category for a source (a plugin's name; empty: the host), made on first use.
  [[nodiscard]] std::shared_ptr<ILogger> logger(std::string_view category, std::string_view source = {});

 private:
  [[nodiscard]] std::shared_ptr<LogCategory> category(std::string_view name);
  Result<void> apply(LogCategory& category) const;

  LogCallback callback_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LogCategory>, std::less<>> categories_;
  std::unique_ptr<Configuration> configuration_;
};

}  // namespace backplane
