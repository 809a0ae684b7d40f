#include "plugin/search_path.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SearchInputs inputs() {
  SearchInputs inputs;
  inputs.code = {"/code"};
  inputs.configuration = {"/configured"};
  inputs.core = "/opt/lib";
  inputs.process.working_directory = "/home/me/work";
  inputs.process.environment = {{"HOME", "/home/me"}};
  return inputs;
}

std::vector<std::string> paths(const SearchInputs& inputs) {
  std::vector<std::string> result;
  for (const SearchPlace& place : search_places(inputs)) result.push_back(place.path.string());
  return result;
}

TEST(SearchPath, CodeThenConfigurationThenUserThenInstall) {
  EXPECT_THAT(paths(inputs()), ElementsAre("/code", "/configured", "/home/me/.local/share/backplane/plugins",
                                           "/opt/lib/backplane/plugins"));
}

TEST(SearchPath, AddedPathsComeBeforeTheConfigured) {
  SearchInputs with = inputs();
  with.process.environment["BACKPLANE_ADD_PLUGINS"] = "/a:b";
  EXPECT_THAT(paths(with),
              ElementsAre("/code", "/a", "/home/me/work/b", "/configured",
                          "/home/me/.local/share/backplane/plugins", "/opt/lib/backplane/plugins"));
}

TEST(SearchPath, OnlyPathsReplaceEverythingButTheCode) {
  SearchInputs with = inputs();
  with.process.environment["BACKPLANE_PLUGINS"] = "/only";
  with.process.environment["BACKPLANE_ADD_PLUGINS"] = "/added";
  EXPECT_THAT(paths(with), ElementsAre("/code", "/only"));
}

TEST(SearchPath, TheUsersDirectoryFollowsXdgIfThatIsAbsolute) {
  SearchInputs with = inputs();
  with.process.environment["XDG_DATA_HOME"] = "/data";
  EXPECT_THAT(paths(with), testing::Contains("/data/backplane/plugins"));
  with.process.environment["XDG_DATA_HOME"] = "data";
  EXPECT_THAT(paths(with), testing::Contains("/home/me/.local/share/backplane/plugins"));
}

TEST(SearchPath, WithoutAnEnvironmentOnlyCodeConfigurationAndInstallAreLeft) {
  SearchInputs with = inputs();
  with.process = {.secure = true, .environment = {}, .working_directory = {}};
  EXPECT_THAT(paths(with), ElementsAre("/code", "/configured", "/opt/lib/backplane/plugins"));
}

TEST(Search, ManifestsAreFoundByNameAndNothingElse) {
  const test::TempDirectory directory;
  for (const char* name :
       {"b.plugin.toml", "a.plugin.toml", "c.plugin.toml", "libunrelated.so", "notes.toml"}) {
    static_cast<void>(directory.write(name, ""));
  }
  const SearchResult result = search({directory.path(), PluginSource::code});
  std::vector<std::string> names;
  for (const SearchHit& hit : result.hits) names.push_back(hit.path.filename().string());
  EXPECT_THAT(names, ElementsAre("a.plugin.toml", "b.plugin.toml", "c.plugin.toml"));
  EXPECT_THAT(result.problem, IsEmpty());
}

TEST(Search, APlaceThatSomebodyNamedMustExist) {
  EXPECT_THAT(search({"/nowhere/at/all", PluginSource::environment}).problem, HasSubstr("does not exist"));
  EXPECT_THAT(search({"/nowhere/at/all", PluginSource::install}).problem, IsEmpty());
}

TEST(Search, APlaceThatIsAFileSaysSo) {
  const test::TempDirectory directory;
  const auto file = directory.write("file", "");
  EXPECT_THAT(search({file, PluginSource::environment}).problem, HasSubstr("It is a file"));
  EXPECT_THAT(search({file / "below", PluginSource::environment}).problem, testing::Not(IsEmpty()));
}

TEST(Search, APlaceThatLoopsSaysSo) {
  const test::TempDirectory directory;
  std::filesystem::create_symlink("loop", directory.path() / "loop");
  EXPECT_THAT(search({directory.path() / "loop", PluginSource::environment}).problem,
              HasSubstr("cannot be examined"));
}

TEST(Search, ADirectoryThatCannotBeReadSaysSo) {
  const test::TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::none);
  constexpr uid_t kNobody = 65534;
  const bool is_root = geteuid() == 0;  // whom permissions do not hold back
  ASSERT_TRUE(!is_root || seteuid(kNobody) == 0);
  const SearchResult result = search({directory.path(), PluginSource::environment});
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all);
  EXPECT_THAT(result.problem, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace backplane
