#include "plugin/glob.h"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Glob, StarStandsForAnyCharactersAndQuestionMarkForOne) {
  EXPECT_TRUE(glob_matches("*", "cuda"));
  EXPECT_TRUE(glob_matches("cu*", "cuda"));
  EXPECT_TRUE(glob_matches("*d*", "cuda"));
  EXPECT_TRUE(glob_matches("c?da", "cuda"));
  EXPECT_TRUE(glob_matches("*a*a*", "banana"));
  EXPECT_TRUE(glob_matches("", ""));
}

TEST(Glob, TheWholeTextMustMatch) {
  EXPECT_FALSE(glob_matches("cu", "cuda"));
  EXPECT_FALSE(glob_matches("uda", "cuda"));
  EXPECT_FALSE(glob_matches("c?a", "cuda"));
  EXPECT_FALSE(glob_matches("cuda?", "cuda"));
  EXPECT_FALSE(glob_matches("", "cuda"));
}

}  // namespace
}  // namespace backplane
