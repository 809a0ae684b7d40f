#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

struct Outcome {
  int status = -1;
  std::string output;  ///< Standard output and error stream.
};

Outcome run_shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> block{};
  for (std::size_t count = 0; (count = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    outcome.output.append(block.data(), count);
  }
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

/// Runs the command as an operator would, with plugins of the test's own.
class CliTest : public testing::Test {
 protected:
  CliTest() { std::filesystem::create_directories(plugins_); }

  static Outcome run(const std::string& arguments) {
    return run_shell(std::string(BACKPLANE_CLI) + " " + arguments);
  }

  void add(std::string_view name) const { test::install_plugin(name, plugins_); }

  test::TempDirectory directory_;
  std::filesystem::path plugins_ = directory_.path() / "plugins";
  test::ScopedEnvironment environment_{"BACKPLANE_PLUGINS", plugins_.string()};
};

TEST_F(CliTest, InfoListsEveryCandidateWithItsReasonAndTheDevicesOfTheGoodOnes) {
  add("good");
  add("no_device");
  add("stale_major");
  add("undefined_symbol");
  const Outcome info = run("info");
  EXPECT_EQ(info.status, 0);
  EXPECT_THAT(info.output, testing::ContainsRegex("good +1\\.2\\.3 +.*plugins +2 devices"));
  EXPECT_THAT(info.output, HasSubstr("no device: libtest.so.1 was not found; install the driver."));
  EXPECT_THAT(info.output, AllOf(HasSubstr("refused: "), HasSubstr("was built for interface 9.")));
  EXPECT_THAT(info.output, AllOf(HasSubstr("failed: "), HasSubstr("undefined symbol")));
  EXPECT_THAT(info.output, HasSubstr("good:1  Second of good"));
}

TEST_F(CliTest, StrictExitsWithOneIfAnythingWasRefusedOrFailedAndOnlyThen) {
  add("good");
  add("no_device");
  EXPECT_EQ(run("info --strict").status, 0);
  add("undefined_symbol");
  EXPECT_EQ(run("info --strict").status, 1);
  EXPECT_EQ(run("info").status, 0);
}

TEST_F(CliTest, StrictExitsWithOneIfAPlaceCannotBeSearched) {
  const test::ScopedEnvironment place("BACKPLANE_PLUGINS", "/nowhere/at/all");
  EXPECT_EQ(run("info --strict").status, 1);
}

TEST_F(CliTest, InfoAsJsonCanBeParsedAndHoldsTheSame) {
  add("good");
  add("stale_magic");
  const Outcome info = run("info --json");
  ASSERT_EQ(info.status, 0);
  const Json json = Json::parse(info.output);
  ASSERT_EQ(json["plugins"].size(), 2U);
  EXPECT_EQ(json["plugins"][0]["name"], "good");
  EXPECT_EQ(json["plugins"][0]["devices"][1]["selector"], "good:1");
  EXPECT_EQ(json["plugins"][1]["state"], "refused");
  EXPECT_EQ(json["places"][0]["path"], plugins_.string());
}

TEST_F(CliTest, PluginsRunsNoCodeOfThem) {
  add("undefined_symbol");
  const Outcome plugins = run("plugins --strict");
  EXPECT_EQ(plugins.status, 0);
  EXPECT_THAT(plugins.output, testing::ContainsRegex("undefined_symbol +1\\.2\\.3 +5 .*available"));
}

TEST_F(CliTest, AManifestWithAnErrorIsToldWithFileLineAndColumn) {
  std::ofstream(plugins_ / "bad.plugin.toml") << "manifest = 1\nname = bad\n";
  EXPECT_THAT(run("plugins").output, HasSubstr("bad.plugin.toml:2:8:"));
}

TEST_F(CliTest, WhatAFileSaysDoesNotSteerTheTerminal) {
  add("good");
  std::ofstream(plugins_ / "good.plugin.toml")
      << test::replaced(test::manifest_text("good"), "1.2.3", "\\u001b[31m1.2.3");
  EXPECT_THAT(run("plugins").output, AllOf(HasSubstr("?[31m"), Not(HasSubstr("\x1b"))));
}

TEST_F(CliTest, ConfigShowsValuesAndWhereTheyCameFrom) {
  const test::ScopedEnvironment streams("BACKPLANE_STREAMING_MAX_STREAMS", "7");
  EXPECT_THAT(run("config").output,
              testing::ContainsRegex("streaming.max_streams +7 +BACKPLANE_STREAMING_MAX_STREAMS"));
  const Json json = Json::parse(run("config --json").output);
  EXPECT_EQ(json[0]["origin"], "default");
}

TEST_F(CliTest, ABrokenConfigurationExitsWithThreeAndSaysWhere) {
  const auto file = directory_.write("broken.toml", "[streaming]\nmax_stream = 1\n");
  const test::ScopedEnvironment config("BACKPLANE_CONFIG", file.string());
  const Outcome info = run("info");
  EXPECT_EQ(info.status, 3);
  EXPECT_THAT(info.output, AllOf(HasSubstr("broken.toml:2:1"), HasSubstr("Did you mean")));
}

TEST_F(CliTest, WrongUsageExitsWithTwoAndAskingForHelpOrVersionWithZero) {
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(run("nonsense").status, 2);
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_THAT(run("--version").output, testing::MatchesRegex("backplane [0-9.]+\n"));
}

TEST_F(CliTest, TheInstallIsFoundThroughASymlinkToTheProgramFromAnotherDirectory) {
  const auto link = directory_.path() / "link";
  std::filesystem::create_symlink(BACKPLANE_CLI, link);
  const test::ScopedEnvironment none("BACKPLANE_PLUGINS", "");
  const Outcome plugins = run_shell("cd / && '" + link.string() + "' plugins --json");
  const Json json = Json::parse(plugins.output);
  EXPECT_EQ(json["places"].back()["path"], std::string(BACKPLANE_BUILD_DIRECTORY) + "/lib/backplane/plugins");
}

}  // namespace
}  // namespace backplane
