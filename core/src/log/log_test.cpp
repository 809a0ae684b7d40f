#include "log/log.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/configuration.h"
#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Configuration configured(const std::map<std::string, std::string>& code) {
  return Configuration::load({.process = {}, .code = code}).value();
}

TEST(Log, BeforeItIsConfiguredWarningsPassAndInformationDoesNot) {
  std::vector<std::string> heard;
  Log log([&](const LogRecord& record) { heard.emplace_back(record.message); });
  const auto logger = log.logger("memory");
  EXPECT_FALSE(logger->enabled(LogLevel::info));
  EXPECT_TRUE(logger->enabled(LogLevel::warning));
  EXPECT_FALSE(logger->enabled(LogLevel::off));
  logger->log(LogLevel::info, "quiet");
  logger->log(LogLevel::warning, "loud");
  EXPECT_THAT(heard, ElementsAre("loud"));
}

TEST(Log, TheCallbackLearnsLevelCategoryAndSource) {
  std::vector<std::string> heard;
  Log log([&](const LogRecord& record) {
    heard.push_back(std::string(to_string(record.level)) + " " + std::string(record.category) + " " +
                    std::string(record.source));
  });
  log.logger("memory", "cuda")->log(LogLevel::error, "x");
  EXPECT_THAT(heard, ElementsAre("error memory cuda"));
}

TEST(Log, LoggersHandedOutBeforeFollowTheConfiguration) {
  Log log([](const LogRecord& /*record*/) {});
  const auto memory = log.logger("memory");
  const auto other = log.logger("other");
  ASSERT_TRUE(
      log.configure(configured({{"log.memory.level", "trace"}, {"log.default.level", "error"}})).has_value());
  EXPECT_TRUE(memory->enabled(LogLevel::trace));
  EXPECT_FALSE(other->enabled(LogLevel::warning));
  EXPECT_FALSE(log.logger("new")->enabled(LogLevel::warning));
}

TEST(Log, AFileReceivesWholeLinesAndIsPrivate) {
  const test::TempDirectory directory;
  const auto file = directory.path() / "log.txt";
  Log log;
  ASSERT_TRUE(log.configure(configured({{"log.memory.file", file.string()}, {"log.memory.stderr", "false"}}))
                  .has_value());
  log.logger("memory", "cuda")->log(LogLevel::warning, "The pool is {full}.");
  EXPECT_THAT(test::read_text(file),
              AllOf(HasSubstr("warning"), HasSubstr("memory: [cuda] The pool is {full}.\n")));
  EXPECT_EQ(std::filesystem::status(file).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(Log, AppendKeepsWhatTheFileHeldAndItsAbsenceDoesNot) {
  const test::TempDirectory directory;
  const auto file = directory.write("log.txt", "before\n");
  const auto write = [&](const char* append) {
    Log log;
    ASSERT_TRUE(log
                    .configure(configured(
                        {{"log.a.file", file.string()}, {"log.a.append", append}, {"log.a.stderr", "false"}}))
                    .has_value());
    log.logger("a")->log(LogLevel::error, "after");
  };
  write("true");
  EXPECT_THAT(test::read_text(file), AllOf(HasSubstr("before"), HasSubstr("after")));
  write("false");
  EXPECT_THAT(test::read_text(file), AllOf(Not(HasSubstr("before")), HasSubstr("after")));
}

TEST(Log, CategoriesMayShareAFile) {
  const test::TempDirectory directory;
  const std::string file = (directory.path() / "log.txt").string();
  Log log;
  ASSERT_TRUE(
      log.configure(configured({{"log.default.file", file}, {"log.default.stderr", "false"}})).has_value());
  log.logger("a")->log(LogLevel::error, "first");
  log.logger("b")->log(LogLevel::error, "second");
  EXPECT_THAT(test::read_text(file), AllOf(HasSubstr("first"), HasSubstr("second")));
}

TEST(Log, AFileThatCannotBeOpenedIsAnErrorThatNamesIt) {
  Log log;
  static_cast<void>(log.logger("a"));
  const auto configured_log = log.configure(configured({{"log.a.file", "/nowhere/log.txt"}}));
  ASSERT_FALSE(configured_log.has_value());
  EXPECT_THAT(configured_log.error().message(), HasSubstr("/nowhere/log.txt"));
}

TEST(Log, ACallbackThatThrowsHarmsNobody) {
  Log log([](const LogRecord& /*record*/) { throw std::runtime_error("no"); });
  log.logger("a")->log(LogLevel::error, "x");
}

TEST(Log, ACallbackThatTakesTheCallersLockAndLogsItselfDoesNotDeadlock) {
  std::recursive_mutex callers_lock;
  std::atomic<int> count = 0;
  std::unique_ptr<Log> log;
  log = std::make_unique<Log>([&](const LogRecord& record) {
    const std::lock_guard lock(callers_lock);
    ++count;
    if (record.category == "outer") log->logger("inner")->log(LogLevel::error, "again");
  });
  constexpr int kThreads = 16;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard lock(callers_lock);
        log->logger("outer")->log(LogLevel::error, "x");
        static_cast<void>(log->configure(configured({})));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 2 * kThreads * kRounds);
}

}  // namespace
}  // namespace backplane
