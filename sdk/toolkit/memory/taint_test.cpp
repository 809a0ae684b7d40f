#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/toolkit/taint.h>

namespace backplane::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr FailureId kA{1};
constexpr FailureId kB{2};

TEST(Taint, StartsClean) {
  const Taint taint;
  EXPECT_TRUE(taint.clean());
  EXPECT_THAT(taint.claims(), IsEmpty());
}

TEST(Taint, ClaimsAndReleasesOneRange) {
  Taint taint;
  taint.claim(4, 8, kA);
  EXPECT_FALSE(taint.clean());
  EXPECT_TRUE(taint.carries(kA));
  EXPECT_THAT(taint.claims(), ElementsAre(Taint::Claim{4, 8, kA}));
  taint.release(0, 16);
  EXPECT_TRUE(taint.clean());
}

TEST(Taint, APartialWriteSplits) {
  Taint taint;
  taint.claim(0, 16, kA);
  taint.release(4, 8);
  EXPECT_THAT(taint.claims(), ElementsAre(Taint::Claim{0, 4, kA}, Taint::Claim{8, 16, kA}));
}

TEST(Taint, ClaimingReplacesWhatWasThere) {
  Taint taint;
  taint.claim(0, 16, kA);
  taint.claim(4, 8, kB);
  EXPECT_THAT(taint.claims(),
              ElementsAre(Taint::Claim{0, 4, kA}, Taint::Claim{4, 8, kB}, Taint::Claim{8, 16, kA}));
  taint.claim(0, 16, kB);
  EXPECT_THAT(taint.claims(), ElementsAre(Taint::Claim{0, 16, kB}));
}

TEST(Taint, AdjacentRangesOfOneFailureFuse) {
  Taint taint;
  taint.claim(0, 4, kA);
  taint.claim(8, 12, kA);
  taint.claim(4, 8, kA);
  EXPECT_THAT(taint.claims(), ElementsAre(Taint::Claim{0, 12, kA}));
}

TEST(Taint, EmptyRangesChangeNothing) {
  Taint taint;
  taint.claim(4, 4, kA);
  EXPECT_TRUE(taint.clean());
  taint.claim(0, 8, kA);
  taint.release(3, 3);
  EXPECT_THAT(taint.claims(), ElementsAre(Taint::Claim{0, 8, kA}));
}

TEST(Taint, OverlappingTouchesOnlySharedBytes) {
  Taint taint;
  taint.claim(0, 4, kA);
  taint.claim(8, 12, kB);
  EXPECT_THAT(taint.overlapping(4, 8), IsEmpty());
  EXPECT_THAT(taint.overlapping(3, 9), ElementsAre(Taint::Claim{0, 4, kA}, Taint::Claim{8, 12, kB}));
  EXPECT_THAT(taint.overlapping(11, 20), ElementsAre(Taint::Claim{8, 12, kB}));
  EXPECT_THAT(taint.overlapping(9, 9), IsEmpty());
}

// The oracle keeps one failure id a byte.
TEST(Taint, AgreesWithAByteByByteModel) {
  for (std::uint32_t seed = 1; seed <= 500; ++seed) {
    std::mt19937 random(seed);
    Taint taint;
    std::array<std::uint64_t, 32> model{};
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t begin = random() % model.size();
      const std::uint64_t end = begin + random() % (model.size() - begin + 1);
      const FailureId failure{random() % 4};
      if (failure == FailureId{}) {
        taint.release(begin, end);
      } else {
        taint.claim(begin, end, failure);
      }
      for (std::uint64_t i = begin; i < end; ++i) model[i] = failure.value;

      std::array<std::uint64_t, 32> actual{};
      std::uint64_t last_end = 0;
      FailureId last;
      for (const Taint::Claim& claim : taint.claims()) {
        ASSERT_LT(claim.begin, claim.end) << "seed " << seed;
        ASSERT_TRUE(claim.begin > last_end || claim.failure != last || last_end == 0) << "seed " << seed;
        for (std::uint64_t i = claim.begin; i < claim.end; ++i) actual[i] = claim.failure.value;
        last_end = claim.end;
        last = claim.failure;
      }
      ASSERT_EQ(actual, model) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace backplane::toolkit
