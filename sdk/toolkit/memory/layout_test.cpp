#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/toolkit/layout.h>
#include <backplane/toolkit/pitched_copy.h>

namespace backplane::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TensorLayout laid_out(const std::vector<std::uint64_t>& shape, std::uint32_t element_size,
                      std::uint64_t pitch_alignment) {
  return lay_out({shape, element_size}, pitch_alignment).value();
}

TEST(LayoutTest, PackedRowsFollowEachOther) {
  const TensorLayout layout = laid_out({2, 3, 5}, 4, 1);
  EXPECT_THAT(layout.strides, ElementsAre(15, 5, 1));
  EXPECT_EQ(layout.pitch, 20U);
  EXPECT_EQ(layout.size, 120U);
}

TEST(LayoutTest, PitchedRowsStartAtMultiplesOfTheAlignment) {
  const TensorLayout layout = laid_out({2, 3, 5}, 4, 64);
  EXPECT_THAT(layout.strides, ElementsAre(48, 16, 1));
  EXPECT_EQ(layout.pitch, 64U);
  EXPECT_EQ(layout.size, 5 * 64U + 20U);
}

TEST(LayoutTest, ThePitchIsAWholeNumberOfElements) {
  const TensorLayout layout = laid_out({2, 5}, 12, 64);
  EXPECT_EQ(layout.pitch, 192U);
  EXPECT_THAT(layout.strides, ElementsAre(16, 1));
}

TEST(LayoutTest, OneDimensionIsPacked) {
  EXPECT_EQ(laid_out({5}, 4, 64).size, 20U);
  EXPECT_EQ(laid_out({}, 4, 64).size, 4U);
  EXPECT_THAT(laid_out({}, 4, 64).strides, IsEmpty());
}

TEST(LayoutTest, ATensorWithoutElementsHasNoBytes) {
  EXPECT_EQ(laid_out({0, 5}, 4, 64).size, 0U);
  EXPECT_EQ(laid_out({5, 0}, 4, 64).size, 0U);
}

TEST(LayoutTest, TensorsOfOneAllocationAreAligned) {
  const std::array<std::uint64_t, 1> small{3};
  const std::array<std::uint64_t, 2> matrix{2, 3};
  const std::array tensors{TensorRequest{small, 4}, TensorRequest{matrix, 8}, TensorRequest{small, 1}};
  const AllocationLayout layout = lay_out(tensors, {.pitch_alignment = 32, .tensor_alignment = 256}).value();
  ASSERT_EQ(layout.tensors.size(), 3U);
  EXPECT_EQ(layout.tensors[0].offset, 0U);
  EXPECT_EQ(layout.tensors[1].offset, 256U);
  EXPECT_EQ(layout.tensors[2].offset, 512U);
  EXPECT_EQ(layout.size, 515U);
}

TEST(LayoutTest, WhatIsLaidOutCanBeCopied) {
  const std::vector<std::uint64_t> shape{2, 3, 5};
  const TensorLayout layout = laid_out(shape, 4, 64);
  const PitchedCopy copy = plan_copy({{nullptr, 0, layout.size}, shape, layout.strides, 4}).value();
  EXPECT_EQ(copy.pitch_bytes, layout.pitch);
  EXPECT_EQ(copy.device_bytes(), layout.size);
}

TEST(LayoutTest, ATensorThatDoesNotFitIsRefused) {
  const std::array<std::uint64_t, 2> huge{std::uint64_t{1} << 40, std::uint64_t{1} << 40};
  const Result<TensorLayout> layout = lay_out({huge, 4}, 1);
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code(), ErrorCode::validation);
}

}  // namespace
}  // namespace backplane::toolkit
