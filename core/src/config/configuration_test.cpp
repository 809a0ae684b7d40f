#include "config/configuration.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key_table.h"
#include "config/nearest.h"
#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Inputs that see nothing of this machine; the working directory is a directory of the test's own.
class ConfigurationTest : public testing::Test {
 protected:
  ConfigurationTest() { inputs_.process.working_directory = directory_.path(); }

  [[nodiscard]] Configuration load() const { return Configuration::load(inputs_).value(); }

  [[nodiscard]] std::string failure() const {
    const auto loaded = Configuration::load(inputs_);
    EXPECT_FALSE(loaded.has_value());
    return loaded ? std::string() : loaded.error().to_string();
  }

  [[nodiscard]] std::string origin_of(std::string_view key) const {
    const Configuration configuration = load();
    for (const ConfigSetting& setting : configuration.settings()) {
      if (setting.key == key) return setting.origin;
    }
    return {};
  }

  void write(std::string_view text) const { static_cast<void>(directory_.write("backplane.toml", text)); }

  test::TempDirectory directory_;
  ConfigInputs inputs_;
};

TEST_F(ConfigurationTest, EveryDefaultIsValidAndSaysThatItIsOne) {
  const Configuration configuration = load();
  EXPECT_EQ(configuration.integer("streaming.max_streams"), 128);
  EXPECT_EQ(configuration.text("streaming.policy"), "per-thread");
  EXPECT_EQ(configuration.boolean("compilation.cache"), true);
  EXPECT_EQ(configuration.text("device.default"), std::nullopt);
  EXPECT_THAT(configuration.list("plugin.paths"), IsEmpty());
  EXPECT_EQ(origin_of("streaming.max_streams"), "default");
  EXPECT_EQ(configuration.settings().size(), config_keys().size() + log_keys().size());
}

TEST_F(ConfigurationTest, CodeWinsOverEnvironmentOverFileOverDefault) {
  write("[streaming]\nmax_streams = 2\n");
  EXPECT_EQ(load().integer("streaming.max_streams"), 2);
  EXPECT_EQ(origin_of("streaming.max_streams"), (directory_.path() / "backplane.toml").string() + ":2");
  inputs_.process.environment["BACKPLANE_STREAMING_MAX_STREAMS"] = "3";
  EXPECT_EQ(load().integer("streaming.max_streams"), 3);
  EXPECT_EQ(origin_of("streaming.max_streams"), "BACKPLANE_STREAMING_MAX_STREAMS");
  inputs_.code["streaming.max_streams"] = "4";
  EXPECT_EQ(load().integer("streaming.max_streams"), 4);
  EXPECT_EQ(origin_of("streaming.max_streams"), "code");
}

TEST_F(ConfigurationTest, TheFileIsFoundFromTheWorkingDirectoryUpwards) {
  write("[device]\ndefault = \"cpu\"\n");
  inputs_.process.working_directory = directory_.path() / "a" / "b";
  std::filesystem::create_directories(inputs_.process.working_directory);
  EXPECT_EQ(load().text("device.default"), "cpu");
}

TEST_F(ConfigurationTest, TheNamedFileWinsOverTheUsersOverTheSystems) {
  inputs_.process.working_directory = directory_.path() / "elsewhere";
  inputs_.system_files = {directory_.path() / "no such file",
                          directory_.write("system.toml", "device.default = \"system\"")};
  EXPECT_EQ(load().text("device.default"), "system");
  inputs_.process.environment["XDG_CONFIG_HOME"] = directory_.path() / "home";
  static_cast<void>(directory_.write("home/backplane/backplane.toml", "device.default = \"user\""));
  EXPECT_EQ(load().text("device.default"), "user");
  inputs_.process.environment["BACKPLANE_CONFIG"] =
      directory_.write("named.toml", "device.default = \"named\"");
  EXPECT_EQ(load().text("device.default"), "named");
}

TEST_F(ConfigurationTest, ANamedFileThatIsNotThereIsAnError) {
  inputs_.process.environment["BACKPLANE_CONFIG"] = "/nowhere.toml";
  EXPECT_THAT(failure(), HasSubstr("\"/nowhere.toml\" cannot be opened"));
}

TEST_F(ConfigurationTest, AnUnknownKeyIsToldWithItsPlaceAndWhatWasMeant) {
  write("[streaming]\nmax_streams = 2\nmax_stream = 3\n");
  EXPECT_THAT(failure(),
              AllOf(HasSubstr("backplane.toml:3:1: \"streaming.max_stream\" is not a configuration key"),
                    HasSubstr("Did you mean \"streaming.max_streams\"?")));
}

TEST_F(ConfigurationTest, AnUnknownOrEmptySectionIsAnErrorToo) {
  write("[streeming]\nmax_streams = 2\n");
  EXPECT_THAT(failure(), HasSubstr("Did you mean \"streaming.max_streams\"?"));
  write("[nonsense]\n");
  EXPECT_THAT(failure(), HasSubstr("backplane.toml:1:1: \"nonsense\""));
}

TEST_F(ConfigurationTest, AWrongTypeIsToldWithItsPlace) {
  write("[streaming]\nmax_streams = \"many\"\n");
  EXPECT_THAT(failure(),
              HasSubstr("backplane.toml:2:1: \"streaming.max_streams\" is a string; it must be an integer"));
  write("[plugin]\npaths = \"/a\"\n");
  EXPECT_THAT(failure(), HasSubstr("a list of strings"));
  write("[compilation]\ncache = 1979-05-27\n");
  EXPECT_THAT(failure(), HasSubstr("a date or time; it must be a boolean"));
}

TEST_F(ConfigurationTest, ABadValueIsToldWithWhatWouldBeGood) {
  write("[streaming]\nmax_streams = 0\n");
  EXPECT_THAT(failure(), HasSubstr("an integer from 1 to 65536"));
  write("[streaming]\npolicy = \"per-thred\"\n");
  EXPECT_THAT(failure(), AllOf(HasSubstr("\"per-thread\", \"per-task\" or \"single\""),
                               HasSubstr("Did you mean \"per-thread\"?")));
  inputs_.process.environment["BACKPLANE_COMPILATION_CACHE"] = "maybe";
  write("");
  EXPECT_THAT(failure(), AllOf(HasSubstr("BACKPLANE_COMPILATION_CACHE"), HasSubstr("true or false")));
}

TEST_F(ConfigurationTest, AnUnknownKeyInCodeIsAnError) {
  inputs_.code["memory.limits"] = "1";
  EXPECT_THAT(failure(), HasSubstr("Did you mean \"memory.limit\"?"));
}

TEST_F(ConfigurationTest, BytesTakeUnitsAndRefuseWhatDoesNotFit) {
  const auto bytes = [&](const std::string& text) {
    inputs_.code["memory.limit"] = text;
    const auto loaded = Configuration::load(inputs_);
    return loaded ? loaded->integer("memory.limit") : std::nullopt;
  };
  EXPECT_EQ(bytes("4096"), 4096);
  EXPECT_EQ(bytes("8 GiB"), std::int64_t{8} << 30);
  EXPECT_EQ(bytes("3MiB"), std::int64_t{3} << 20);
  for (const char* bad : {"-1", "8 GB", "lots", "9223372036854775807 KiB", "99999999999999999999"}) {
    EXPECT_EQ(bytes(bad), std::nullopt) << bad;
  }
}

TEST_F(ConfigurationTest, ListsAreSeparatedByColonsForPathsAndCommasForTheRest) {
  inputs_.process.environment = {{"BACKPLANE_PLUGIN_PATHS", "/a,b:/c"},
                                 {"BACKPLANE_LAYERS", "validate, trace"}};
  EXPECT_THAT(load().list("plugin.paths"), ElementsAre("/a,b", "/c"));
  EXPECT_THAT(load().list("layers.enable"), ElementsAre("validate", "trace"));
}

TEST_F(ConfigurationTest, PathsInAFileAreRelativeToIt) {
  write("[plugin]\npaths = [\"mine\", \"/abs\"]\n");
  inputs_.process.working_directory = directory_.path() / "below";
  std::filesystem::create_directories(inputs_.process.working_directory);
  EXPECT_THAT(load().list("plugin.paths"), ElementsAre((directory_.path() / "mine").string(), "/abs"));
}

TEST_F(ConfigurationTest, ShortNamesOfVariablesWork) {
  inputs_.process.environment["BACKPLANE_DEVICE"] = "cuda:1";
  EXPECT_EQ(load().text("device.default"), "cuda:1");
  EXPECT_EQ(origin_of("device.default"), "BACKPLANE_DEVICE");
}

TEST_F(ConfigurationTest, AProbablyMisspelledVariableIsNoticed) {
  inputs_.process.environment = {{"BACKPLANE_DEVISE", "cpu"}, {"BACKPLANE_SOMETHING_ELSE_ALTOGETHER", "1"}};
  EXPECT_THAT(load().notices(),
              ElementsAre(AllOf(HasSubstr("BACKPLANE_DEVISE"), HasSubstr("\"BACKPLANE_DEVICE\""))));
}

TEST_F(ConfigurationTest, LogCategoriesHaveTablesOfTheirOwn) {
  write("[log.memory]\nlevel = \"debug\"\nfile = \"memory.log\"\n");
  inputs_.process.environment["BACKPLANE_LOG_COMPILATION_LEVEL"] = "trace";
  const Configuration configuration = load();
  EXPECT_THAT(configuration.log_categories(), ElementsAre("compilation", "default", "memory"));
  EXPECT_EQ(configuration.text("log.memory.level"), "debug");
  EXPECT_EQ(configuration.boolean("log.memory.append"), false);
  EXPECT_EQ(configuration.text("log.compilation.level"), "trace");
  write("[log.memory]\nlevle = \"debug\"\n");
  EXPECT_THAT(failure(), HasSubstr("Did you mean \"log.memory.level\"?"));
}

TEST_F(ConfigurationTest, AFileThatOthersCouldHaveWrittenDoesNotDecideWhatCodeRuns) {
  write("[plugin]\npaths = [\"/evil\"]\n[layers]\nenable = [\"evil\"]\n[device]\ndefault = \"cpu\"\n");
  std::filesystem::permissions(directory_.path() / "backplane.toml", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const Configuration configuration = load();
  EXPECT_THAT(configuration.list("plugin.paths"), IsEmpty());
  EXPECT_THAT(configuration.list("layers.enable"), IsEmpty());
  EXPECT_EQ(configuration.text("device.default"), "cpu");
  ASSERT_EQ(configuration.notices().size(), 2U);
  EXPECT_THAT(configuration.notices()[1],
              AllOf(HasSubstr("\"plugin.paths\" is ignored"), HasSubstr("by everybody")));
}

TEST_F(ConfigurationTest, ASecureProcessReadsTheSystemsFileAlone) {
  write("[device]\ndefault = \"cwd\"\n");
  inputs_.system_files = {directory_.write("system.toml", "device.default = \"system\"")};
  inputs_.process = {.secure = true, .environment = {}, .working_directory = {}};
  EXPECT_EQ(load().text("device.default"), "system");
}

TEST(KeyTable, VariablesAreNamedAfterTheirKeys) {
  EXPECT_EQ(environment_name("autotune.bench.samples"), "BACKPLANE_AUTOTUNE_BENCH_SAMPLES");
}

TEST(Nearest, OnlyAWordThatIsCloseIsSuggested) {
  const std::vector<std::string> words{"priority", "kernels"};
  EXPECT_EQ(nearest("priorty", words), "priority");
  EXPECT_EQ(nearest("something", words), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), words), "");
}

}  // namespace
}  // namespace backplane
