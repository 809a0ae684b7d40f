#include "log/log_sinks.h"

#define SPDLOG_NO_THREAD_ID
#include <cerrno>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

namespace backplane {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::critical;
}

/// Two categories, or two runtimes, that name one file share its sink: two streams into one file would write
/// over each other.
Result<spdlog::sink_ptr> file_sink(const std::filesystem::path& path, bool append) {
  static std::mutex mutex;
  static auto* const open_files = new std::map<std::string, std::weak_ptr<spdlog::sinks::sink>>();
  const std::lock_guard lock(mutex);
  std::error_code ignored;
  const std::string name = std::filesystem::absolute(path, ignored).lexically_normal().string();
  if (spdlog::sink_ptr shared = (*open_files)[name].lock()) return shared;
  // Created here first, because the library would make it readable to everybody.
  const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
  if (descriptor < 0) {
    return Error(ErrorCode::configuration_invalid, "The log file \"" + name + "\" cannot be opened: " +
                                                       std::generic_category().message(errno) + ".");
  }
  ::close(descriptor);
  try {
    spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(name, !append);
    (*open_files)[name] = sink;
    return sink;
  } catch (const std::exception& exception) {
    return Error(ErrorCode::configuration_invalid,
                 "The log file \"" + name + "\" cannot be opened: " + exception.what());
  }
}

class SpdlogSinks final : public LogSinks {
 public:
  explicit SpdlogSinks(std::vector<spdlog::sink_ptr> sinks)
      : logger_("backplane", sinks.begin(), sinks.end()) {
    logger_.set_level(spdlog::level::trace);  // our own levels have decided already
    logger_.set_pattern("%Y-%m-%d %H:%M:%S.%e %-8l %v");
    logger_.flush_on(spdlog::level::trace);
    // A sink that fails (a full disk) must neither throw at whoever logs nor write about it each time.
    logger_.set_error_handler([](const std::string& /*message*/) {});
  }

  void write(const LogRecord& record) noexcept override {
    try {
      std::string line(record.category);
      line += ": ";
      if (!record.source.empty()) line.append("[").append(record.source).append("] ");
      line += record.message;
      logger_.log(record.time, spdlog::source_loc{}, to_spdlog(record.level),
                  spdlog::string_view_t(line.data(), line.size()));
    } catch (...) {  // NOLINT(bugprone-empty-catch): a log that cannot be written has nowhere to say so
    }
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

Result<std::shared_ptr<LogSinks>> LogSinks::create(const LogSinkOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;
  if (!options.file.empty()) {
    BACKPLANE_TRY(spdlog::sink_ptr sink, file_sink(options.file, options.append));
    sinks.push_back(std::move(sink));
  }
  if (options.standard_output) sinks.push_back(std::make_shared<spdlog::sinks::stdout_sink_mt>());
  if (options.standard_error) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return std::shared_ptr<LogSinks>(std::make_shared<SpdlogSinks>(std::move(sinks)));
}

}  // namespace backplane
