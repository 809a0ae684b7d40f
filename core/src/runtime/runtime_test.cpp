#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/runtime.h>
#include <backplane/version.h>

#include "plugin/test_support.h"
#include "runtime/runtime_state.h"

namespace backplane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Sees the plugins of the test alone.
class RuntimeTest : public testing::Test {
 protected:
  RuntimeTest() {
    std::filesystem::create_directories(plugins_);
    options_.log_callback = [](const LogRecord& /*record*/) {};
  }

  void add(std::string_view name, std::string_view priority) const {
    test::install_plugin(name, plugins_);
    const std::string text =
        test::replaced(test::manifest_text(name), "priority = 5", "priority = " + std::string(priority));
    std::ofstream(plugins_ / (std::string(name) + ".plugin.toml")) << text;
  }

  [[nodiscard]] Runtime open() const { return Runtime::open(options_).value(); }

  test::TempDirectory directory_;
  std::filesystem::path plugins_ = directory_.path() / "plugins";
  test::ScopedEnvironment environment_{"BACKPLANE_PLUGINS", plugins_.string()};
  RuntimeOptions options_;
};

TEST(Version, IsNotEmpty) {
  EXPECT_THAT(std::string(version()), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(RuntimeTest, WithoutAnyPluginItOpensAndSaysSoWhenADeviceIsWanted) {
  const Runtime runtime = open();
  EXPECT_TRUE(runtime.devices().empty());
  const auto device = runtime.device();
  ASSERT_FALSE(device.has_value());
  EXPECT_EQ(device.error().code(), ErrorCode::not_found);
}

TEST_F(RuntimeTest, DevicesAreOrderedByThePriorityOfTheirPlugins) {
  add("good", "1");
  add("also_good", "9");
  std::vector<std::string> names;
  for (const RuntimeDevice& device : open().devices()) names.push_back(device.properties.name);
  EXPECT_THAT(names,
              ElementsAre("First of also_good", "Second of also_good", "First of good", "Second of good"));
}

TEST_F(RuntimeTest, TheDefaultDeviceIsTheFirstOfTheHighestPriorityThatHasOne) {
  add("good", "1");
  add("no_device", "100");
  add("throwing_constructor", "50");
  EXPECT_EQ(open().device().value().properties.name, "First of good");
}

TEST_F(RuntimeTest, ADeviceIsSelectedByPluginNumberUuidAndAddress) {
  add("good", "1");
  const Runtime runtime = open();
  EXPECT_EQ(runtime.device("good").value().id, DeviceId{0});
  EXPECT_EQ(runtime.device("good:1").value().id, DeviceId{1});
  EXPECT_EQ(runtime.device("good:uuid=00112233445566778899AABBCCDDEEFF").value().id, DeviceId{0});
  EXPECT_EQ(runtime.device("good:pci=3b:00.0").value().id, DeviceId{0});
}

TEST_F(RuntimeTest, NoMatchListsTheCandidates) {
  add("good", "1");
  add("no_device", "2");
  const auto device = open().device("good:7");
  ASSERT_FALSE(device.has_value());
  EXPECT_THAT(device.error().message(),
              AllOf(HasSubstr("\"good:7\""), HasSubstr("good:0 (First of good), good:1 (Second of good)"),
                    HasSubstr("no_device (no device): libtest.so.1 was not found")));
}

TEST_F(RuntimeTest, TheDefaultDeviceIsTakenFromCodeThenEnvironment) {
  add("good", "1");
  add("also_good", "9");
  const test::ScopedEnvironment device("BACKPLANE_DEVICE", "good:1");
  EXPECT_EQ(open().device().value().properties.name, "Second of good");
  options_.configuration["device.default"] = "also_good:1";
  EXPECT_EQ(open().device().value().properties.name, "Second of also_good");
}

TEST_F(RuntimeTest, SelectingADeviceLoadsNoOtherPlugin) {
  add("good", "1");
  add("also_good", "9");
  const Runtime runtime = open();
  ASSERT_TRUE(runtime.device("good").has_value());
  const RuntimeReport report = runtime.listing();
  EXPECT_EQ(report.plugins[0].name, "also_good");
  EXPECT_EQ(report.plugins[0].state, PluginState::available);
  EXPECT_EQ(report.plugins[1].state, PluginState::loaded);
}

TEST_F(RuntimeTest, CopiesShareEverything) {
  add("good", "1");
  const Runtime runtime = open();
  const Runtime copy = runtime;  // NOLINT(performance-unnecessary-copy-initialization): under test
  ASSERT_TRUE(runtime.device("good").has_value());
  EXPECT_EQ(copy.listing().plugins[0].state, PluginState::loaded);
}

TEST_F(RuntimeTest, APluginInUseIsNotUnloaded) {
  add("good", "1");
  Runtime runtime = open();
  {
    const SelectedDevice held = runtime.state()->select("good").value();
    EXPECT_EQ(runtime.unload("good").error().code(), ErrorCode::busy);
  }
  EXPECT_TRUE(runtime.unload("good").has_value());
}

TEST_F(RuntimeTest, ABrokenConfigurationKeepsItFromOpening) {
  options_.configuration["no.such.key"] = "1";
  const auto runtime = Runtime::open(options_);
  ASSERT_FALSE(runtime.has_value());
  EXPECT_EQ(runtime.error().code(), ErrorCode::configuration_invalid);
}

TEST_F(RuntimeTest, TheConfigurationIsListedWithItsOrigins) {
  options_.configuration["streaming.max_streams"] = "7";
  for (const ConfigurationEntry& entry : open().configuration()) {
    if (entry.key != "streaming.max_streams") continue;
    EXPECT_EQ(entry.value, "7");
    EXPECT_EQ(entry.origin, "code");
    return;
  }
  FAIL() << "the key is not listed";
}

TEST_F(RuntimeTest, BacktracesAreTakenWhereTheyAreWanted) {
  EXPECT_EQ(open().state()->host().stack_trace(), "");
  const test::ScopedEnvironment wanted("BACKPLANE_BACKTRACE", "1");
  const Runtime runtime = open();
  EXPECT_NE(runtime.state()->host().stack_trace(), "");
  EXPECT_NE(runtime.device("none").error().stack_trace(), "");
}

}  // namespace
}  // namespace backplane
