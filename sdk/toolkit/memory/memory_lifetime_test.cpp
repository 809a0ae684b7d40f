#include <cstring>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_test_support.h"

namespace backplane::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<MemoryPoolOptions> one_mebibyte_pages(std::uint64_t capacity = 0) {
  return {{MemoryPoolKind::sliced, kMiB, 0, capacity, 0}};
}

TEST(DropQueueTest, MemoryOfItsOwnStreamIsThereAgainAtOnce) {
  TestMemory memory;
  ASSERT_TRUE(memory.install(one_mebibyte_pages()));
  memory.reserve(kMiB);
  memory.reserve(kMiB);
  EXPECT_EQ(memory.storage.asked, 1U);
  EXPECT_THAT(memory.progress.marked, IsEmpty());
}

TEST(DropQueueTest, MemoryThatAnotherStreamUsedWaitsForThatStream) {
  TestMemory memory;
  ASSERT_TRUE(memory.install(one_mebibyte_pages()));
  ManagedMemory handle = memory.reserve(kMiB);
  const StorageId page = slice(handle).place.storage;
  slice(handle).stream = kOther;
  handle = {};
  ManagedMemory next = memory.reserve(kMiB);
  EXPECT_NE(slice(next).place.storage, page);
  memory.progress.finish(kOther);
  const ManagedMemory later = memory.reserve(kMiB);
  EXPECT_EQ(slice(later).place.storage, page);
}

TEST(DropQueueTest, OneFenceCoversAllThatIsFreedTogether) {
  TestMemory memory;
  std::vector<ManagedMemory> handles;
  for (int i = 0; i < 10; ++i) handles.push_back(memory.reserve(kMiB));
  for (const ManagedMemory& handle : handles) slice(handle).stream = kOther;
  handles.clear();
  memory.management->drain_dropped();
  EXPECT_THAT(memory.progress.marked, ElementsAre(Pair(kOther, 1)));
}

TEST(DropQueueTest, WhatWaitsIsWaitedForBeforeAnAllocationFails) {
  TestMemory memory(1024 * kMiB, {.limit = kMiB});
  ManagedMemory handle = memory.reserve(kMiB);
  slice(handle).stream = kOther;
  handle = {};
  EXPECT_EQ(memory.reserve_error(kMiB), ErrorCode::none);
  EXPECT_GE(memory.progress.waits, 1U);
}

TEST(DropQueueTest, MemoryIsLeakedWhereAWaitFailsAndNeverReused) {
  TestMemory memory(1024 * kMiB, {.limit = kMiB});
  ManagedMemory handle = memory.reserve(kMiB);
  slice(handle).stream = kOther;
  handle = {};
  memory.progress.broken = true;
  EXPECT_EQ(memory.reserve_error(kMiB), ErrorCode::out_of_memory);
  memory.progress.broken = false;
  EXPECT_EQ(memory.reserve_error(kMiB), ErrorCode::out_of_memory);
  memory.management.reset();
  EXPECT_EQ(memory.storage.released, 0U);
}

TEST(DropQueueTest, MemoryIsReleasedThoughAWaitFailsWhereTheDeviceIsSeenToBeDone) {
  TestMemory memory(1024 * kMiB, {.limit = kMiB});
  ManagedMemory handle = memory.reserve(kMiB);
  slice(handle).stream = kOther;
  handle = {};
  memory.management->drain_dropped();
  memory.progress.broken = true;
  memory.progress.finish(kOther);
  EXPECT_EQ(memory.reserve_error(kMiB), ErrorCode::none);
}

TEST(PageSharingTest, AStreamTakesAnIdlePageOfAnotherOrderedBehindItsLastUse) {
  TestMemory memory;
  memory.reserve(64 * kMiB);
  const ManagedMemory second = memory.reserve(60 * kMiB, kOther);
  EXPECT_EQ(memory.storage.asked, 1U);
  EXPECT_THAT(memory.progress.orders, ElementsAre(Pair(kOther, kStream)));
  EXPECT_EQ(memory.management->usage(kStream).bytes_reserved, 0U);
  EXPECT_EQ(memory.management->usage(kOther).bytes_reserved, memory.storage.in_use);
}

TEST(PageSharingTest, APageThatCannotBeOrderedStaysWhereItIs) {
  TestMemory memory;
  memory.reserve(64 * kMiB);
  memory.management->drain_dropped();
  memory.progress.broken = true;
  const ManagedMemory second = memory.reserve(64 * kMiB, kOther);
  EXPECT_EQ(memory.storage.asked, 2U);
}

TEST(PageSharingTest, TwoStreamsThatTakeTurnsDoNotDoubleTheMemory) {
  TestMemory memory;
  for (int turn = 0; turn < 10; ++turn) {
    const StreamId stream = turn % 2 == 0 ? kStream : kOther;
    std::vector<ManagedMemory> live;
    for (int i = 1; i <= 20; ++i)
      live.push_back(memory.reserve(static_cast<std::uint64_t>(i) * kMiB, stream));
  }
  TestMemory alone;
  std::vector<ManagedMemory> live;
  for (int i = 1; i <= 20; ++i) live.push_back(alone.reserve(static_cast<std::uint64_t>(i) * kMiB));
  EXPECT_LE(memory.management->peak_reserved(), alone.management->peak_reserved() * 102 / 100);
}

TEST(PageGuardTest, AGuardedPageIsNeitherReleasedNorTakenUntilTheGuardGoes) {
  TestMemory memory;
  ManagedMemory handle = memory.reserve(64 * kMiB);
  PageGuard guard = memory.management->guard(slice(handle));
  handle = {};
  memory.management->cleanup(kStream);
  EXPECT_EQ(memory.storage.released, 0U);
  const ManagedMemory other = memory.reserve(64 * kMiB, kOther);
  EXPECT_EQ(memory.storage.asked, 2U);
  guard = {};
  memory.management->cleanup(kStream);
  EXPECT_EQ(memory.storage.released, 1U);
}

TEST(PageGuardTest, APinnedSliceLetsGoOfItsPageWhenItIsFreed) {
  TestMemory memory;
  ManagedMemory handle = memory.reserve(64 * kMiB);
  memory.management->pin(slice(handle));
  memory.management->pin(slice(handle));
  handle = {};
  memory.management->cleanup(kStream);
  EXPECT_EQ(memory.storage.in_use, 0U);
}

/// Two pages of 1 MiB with a sixteenth of each in use.
class RelocationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(memory.install(one_mebibyte_pages()));
    std::vector<ManagedMemory> all;
    for (int i = 0; i < 32; ++i) all.push_back(memory.reserve(kMiB / 16));
    first = all.front();
    second = all.back();
    all.clear();
    memory.management->drain_dropped();
    std::memset(memory.storage.data(slice(first).place), 1, kMiB / 16);
    std::memset(memory.storage.data(slice(second).place), 2, kMiB / 16);
    before = {slice(first).place, slice(second).place};
  }

  MemoryManagement::Copy copy() {
    return [this](const Placement& from, const Placement& to, std::uint64_t bytes, StreamId) -> Result<void> {
      std::memcpy(memory.storage.data(to), memory.storage.data(from), bytes);
      return {};
    };
  }

  void expect_unmoved() {
    EXPECT_EQ(slice(first).place, before[0]);
    EXPECT_EQ(slice(second).place, before[1]);
    EXPECT_EQ(memory.management->usage(kStream).bytes_reserved, 2 * kMiB);
  }

  TestMemory memory{1024 * kMiB, {}, true};
  ManagedMemory first;
  ManagedMemory second;
  std::vector<Placement> before;
};

TEST_F(RelocationTest, SparsePagesAreEmptiedAndContentsSurvive) {
  const Result<RelocationOutcome> outcome = memory.management->relocate(kStream, copy());
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->slices, 1U);
  EXPECT_EQ(outcome->pages, 1U);
  EXPECT_EQ(outcome->bytes, kMiB / 16);
  EXPECT_EQ(slice(first).place.storage, slice(second).place.storage);
  EXPECT_EQ(*memory.storage.data(slice(first).place), std::byte{1});
  EXPECT_EQ(*memory.storage.data(slice(second).place), std::byte{2});
  memory.management->cleanup(kStream);
  EXPECT_EQ(memory.storage.in_use, kMiB);
}

TEST_F(RelocationTest, AMoveIsOrderedBehindTheLastUse) {
  slice(first).stream = kOther;
  slice(second).stream = kOther;
  ASSERT_TRUE(memory.management->relocate(kStream, copy()));
  EXPECT_THAT(memory.progress.orders, ElementsAre(Pair(kStream, kOther)));
}

TEST_F(RelocationTest, ACopyThatFailsLeavesEverythingWhereItWas) {
  const Result<RelocationOutcome> outcome = memory.management->relocate(
      kStream, [](const Placement&, const Placement&, std::uint64_t, StreamId) -> Result<void> {
        return Error(ErrorCode::io_unknown, "The test cannot copy.");
      });
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), ErrorCode::io_unknown);
  expect_unmoved();
  EXPECT_EQ(memory.management->usage(kStream).allocation_count, 2U);
  EXPECT_TRUE(memory.management->relocate(kStream, copy()));
}

TEST_F(RelocationTest, AWaitThatFailsLeavesEverythingWhereItWasAndLeaksTheDestination) {
  memory.progress.broken = true;
  EXPECT_FALSE(memory.management->relocate(kStream, copy()));
  expect_unmoved();
  EXPECT_EQ(*memory.storage.data(slice(first).place), std::byte{1});
  EXPECT_EQ(memory.management->usage(kStream).allocation_count, 3U);
}

TEST_F(RelocationTest, GuardedPagesDoNotMove) {
  memory.management->pin(slice(first));
  memory.management->pin(slice(second));
  ASSERT_TRUE(memory.management->relocate(kStream, copy()));
  expect_unmoved();
}

}  // namespace
}  // namespace backplane::toolkit
