#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "plugin/test_support.h"

namespace backplane {
namespace {

int run(const std::string& argument) {
  const test::TempDirectory directory;
  test::install_plugin("owning_thread_local", directory.path());
  test::install_plugin("calls_back", directory.path());
  const test::ScopedEnvironment environment("BACKPLANE_PLUGINS", directory.path().string());
  return std::system((std::string(BACKPLANE_EXIT_PROGRAM) + " " + argument + " 2>/dev/null").c_str());
}

TEST(Exit, AStaticObjectMayHoldServerPluginAndRuntime) {
  EXPECT_EQ(run(""), 0);
}

TEST(Exit, AHundredExitsWithoutShutdownAllSucceed) {
  constexpr int kRuns = 50;  // of each kind
  for (int i = 0; i < kRuns; ++i) {
    ASSERT_EQ(run(""), 0) << i;
    ASSERT_EQ(run("quick"), 0) << i;
  }
}

}  // namespace
}  // namespace backplane
