#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <backplane/toolkit/pitched_copy.h>

namespace backplane::toolkit {
namespace {

using Extents = std::vector<std::uint64_t>;

Result<PitchedCopy> plan(std::uint64_t bytes, const Extents& shape, const Extents& strides,
                         std::uint32_t element = 4) {
  return plan_copy({{nullptr, 0, bytes}, shape, strides, element});
}

void expect_plan(const Result<PitchedCopy>& copy, std::uint64_t rows, std::uint64_t row,
                 std::uint64_t pitch) {
  ASSERT_TRUE(copy) << copy.error();
  EXPECT_EQ(copy->rows, rows);
  EXPECT_EQ(copy->row_bytes, row);
  EXPECT_EQ(copy->pitch_bytes, pitch);
}

TEST(PlanCopy, WithoutAShapeTakesTheWholeBuffer) {
  expect_plan(plan(12, {}, {}), 1, 12, 12);
  expect_plan(plan(0, {}, {}), 0, 0, 0);
}

TEST(PlanCopy, FoldsContiguousDimensionsIntoOneRow) {
  expect_plan(plan(96, {2, 3, 4}, {12, 4, 1}), 1, 96, 96);
}

TEST(PlanCopy, KeepsOnePitchForAllOuterDimensions) {
  expect_plan(plan(8 * 6 * 4, {3, 5}, {8, 1}), 3, 20, 32);
  expect_plan(plan(8 * 6 * 4, {2, 3, 5}, {24, 8, 1}), 6, 20, 32);
  expect_plan(plan(1000, {2, 3, 5}, {40, 5, 1}), 2, 60, 160);
}

TEST(PlanCopy, IgnoresStridesOfDimensionsOfOne) {
  expect_plan(plan(20, {1, 5}, {999, 1}), 1, 20, 20);
  expect_plan(plan(20, {5, 1}, {1, 7}), 1, 20, 20);
}

TEST(PlanCopy, CopiesNothingForAnEmptyDimension) {
  expect_plan(plan(20, {3, 0}, {9, 9}), 0, 0, 0);
}

TEST(PlanCopy, RefusesWhatIsNotPitchedRowMajor) {
  for (const auto& [shape, strides] : std::vector<std::pair<Extents, Extents>>{
           {{3, 5}, {1, 3}},          // column-major
           {{3, 5}, {10, 2}},         // a gap between elements
           {{5}, {2}},                // likewise
           {{3, 5}, {4, 1}},          // overlapping rows
           {{2, 3, 5}, {100, 8, 1}},  // two pitches
           {{3, 5}, {0, 1}},          // a broadcast
       }) {
    const auto copy = plan(4000, shape, strides);
    ASSERT_FALSE(copy);
    EXPECT_EQ(copy.error().code(), ErrorCode::unsupported_strides);
  }
}

TEST(PlanCopy, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(plan(95, {2, 3, 4}, {12, 4, 1}).error().limit(), 95U);
  EXPECT_EQ(plan(8, {2}, {1, 1}).error().code(), ErrorCode::validation);
  const std::uint64_t huge = std::uint64_t{1} << 62U;
  EXPECT_EQ(plan(8, {huge, 8}, {8, 1}).error().code(), ErrorCode::validation);
  EXPECT_EQ(plan(8, {3, 2}, {huge * 2, 1}).error().code(), ErrorCode::validation);
}

TEST(PitchedCopy, MovesRowsBothWays) {
  const std::array<std::byte, 6> host{std::byte{1}, std::byte{2}, std::byte{3},
                                      std::byte{4}, std::byte{5}, std::byte{6}};
  std::array<std::byte, 8> device{};
  std::array<std::byte, 6> back{};
  const PitchedCopy copy = plan(8, {2, 3}, {5, 1}, 1).value();
  copy_to_device(copy, host.data(), device.data());
  EXPECT_EQ(device[2], std::byte{3});
  EXPECT_EQ(device[3], std::byte{0});
  EXPECT_EQ(device[5], std::byte{4});
  copy_to_host(copy, device.data(), back.data());
  EXPECT_EQ(back, host);
}

}  // namespace
}  // namespace backplane::toolkit
