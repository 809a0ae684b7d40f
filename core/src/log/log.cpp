#include "log/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/configuration.h"
#include "log/log_sinks.h"

namespace backplane {

/// One category: its level and where its messages go. Shared by its loggers, so that they follow a change.
/// Any thread; neither callback nor sinks are called under its lock.
class LogCategory {
 public:
  LogCategory(std::string name, LogCallback callback)
      : name_(std::move(name)), callback_(std::move(callback)) {}

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool enabled(LogLevel level) const noexcept {
    return level < LogLevel::off && level >= level_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool has_callback() const noexcept { return callback_ != nullptr; }

  void configure(LogLevel level, std::shared_ptr<LogSinks> sinks) {
    {
      const std::lock_guard lock(mutex_);
      sinks_.swap(sinks);
    }
    level_.store(level, std::memory_order_relaxed);
  }

  void write(LogLevel level, std::string_view source, std::string_view message) noexcept {
    try {
      const LogRecord record{.time = std::chrono::system_clock::now(),
                             .level = level,
                             .category = name_,
                             .source = source,
                             .message = message};
      std::shared_ptr<LogSinks> sinks;
      {
        const std::lock_guard lock(mutex_);
        sinks = sinks_;
      }
      if (sinks != nullptr) sinks->write(record);
      if (callback_) callback_(record);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the callback's exceptions are its own affair
    }
  }

 private:
  const std::string name_;
  const LogCallback callback_;
  std::atomic<LogLevel> level_{LogLevel::warning};
  std::mutex mutex_;
  std::shared_ptr<LogSinks> sinks_;
};

namespace {

class CategoryLogger final : public ILogger {
 public:
  CategoryLogger(std::shared_ptr<LogCategory> category, std::string_view source)
      : category_(std::move(category)), source_(source) {}

  [[nodiscard]] bool enabled(LogLevel level) const noexcept override { return category_->enabled(level); }

  void log(LogLevel level, std::string_view message) noexcept override {
    if (category_->enabled(level)) category_->write(level, source_, message);
  }

 private:
  std::shared_ptr<LogCategory> category_;
  std::string source_;
};

LogLevel level_named(std::string_view name) {
  for (const LogLevel level :
       {LogLevel::trace, LogLevel::debug, LogLevel::info, LogLevel::error, LogLevel::off}) {
    if (to_string(level) == name) return level;
  }
  return LogLevel::warning;
}

}  // namespace

Log::Log(LogCallback callback) : callback_(std::move(callback)) {}

Log::~Log() = default;

Result<void> Log::configure(const Configuration& configuration) {
  const std::lock_guard lock(mutex_);
  configuration_ = std::make_unique<Configuration>(configuration);
  std::vector<Error> failures;
  for (const auto& [name, category] : categories_) {
    if (auto applied = apply(*category); !applied) failures.push_back(std::move(applied).error());
  }
  if (!failures.empty()) return failures.front();
  return {};
}

Result<void> Log::apply(LogCategory& category) const {
  std::string prefix = "log.default.";
  if (configuration_ != nullptr) {
    const std::string own = "log." + category.name() + ".";
    if (configuration_->text(own + "level")) prefix = own;
  }
  const auto boolean = [&](const char* key, bool preset) {
    return configuration_ == nullptr ? preset : configuration_->boolean(prefix + key).value_or(preset);
  };
  const auto text = [&](const char* key) {
    return configuration_ == nullptr ? std::nullopt : configuration_->text(prefix + key);
  };
  const LogLevel level = level_named(text("level").value_or("warning"));
  LogSinkOptions options{.file = text("file").value_or(""),
                         .append = boolean("append", false),
                         .standard_output = boolean("stdout", false),
                         .standard_error = boolean("stderr", true) && !category.has_callback()};
  auto sinks = LogSinks::create(options);
  if (!sinks) {
    options.file.clear();
    auto without_file = LogSinks::create(options);
    if (without_file) category.configure(level, *std::move(without_file));
    return std::move(sinks).error();
  }
  category.configure(level, *std::move(sinks));
  return {};
}

std::shared_ptr<LogCategory> Log::category(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = categories_.find(name); found != categories_.end()) return found->second;
  auto made = std::make_shared<LogCategory>(std::string(name), callback_);
  const auto applied = apply(*made);
  categories_.emplace(std::string(name), made);
  static_cast<void>(applied);  // where the file fails, the category writes to its other sinks
  return made;
}

std::shared_ptr<ILogger> Log::logger(std::string_view category_name, std::string_view source) {
  return std::make_shared<CategoryLogger>(category(category_name), source);
}

}  // namespace backplane
