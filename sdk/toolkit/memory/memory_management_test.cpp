#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_test_support.h"

namespace backplane::toolkit {
namespace {

using ::testing::HasSubstr;

MemoryPoolOptions sliced(std::uint64_t page_size, std::uint64_t largest = 0, std::uint64_t capacity = 0) {
  return {MemoryPoolKind::sliced, page_size, largest, capacity, 0};
}

TEST(MemoryManagementTest, ASlicePageServesTwoHalvesOfItself) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB)}));
  const ManagedMemory first = memory.reserve(kMiB / 2);
  const ManagedMemory second = memory.reserve(kMiB / 2);
  EXPECT_EQ(memory.storage.in_use, kMiB);
  EXPECT_EQ(slice(first).place.storage, slice(second).place.storage);
  EXPECT_NE(slice(first).place.offset, slice(second).place.offset);
}

TEST(MemoryManagementTest, FreedNeighboursServeOneLargerRequest) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB)}));
  std::vector<ManagedMemory> quarters;
  for (int i = 0; i < 4; ++i) quarters.push_back(memory.reserve(kMiB / 4));
  quarters[1] = {};
  quarters[2] = {};
  const ManagedMemory half = memory.reserve(kMiB / 2);
  EXPECT_EQ(slice(half).place.offset, kMiB / 4);
  EXPECT_EQ(memory.storage.asked, 1U);
}

TEST(MemoryManagementTest, AnExclusivePageServesOneAllocationAtATime) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({{MemoryPoolKind::exclusive, kMiB, 0, 0, 0}}));
  ManagedMemory first = memory.reserve(100);
  const ManagedMemory second = memory.reserve(100);
  EXPECT_NE(slice(first).place.storage, slice(second).place.storage);
  const StorageId page = slice(first).place.storage;
  first = {};
  const ManagedMemory third = memory.reserve(kMiB);
  EXPECT_EQ(slice(third).place.storage, page);
}

TEST(MemoryManagementTest, DirectMemoryIsOfItsOwnSizeAndGivenBackUnderPressure) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({{MemoryPoolKind::direct, 0, 0, 0, 0}}));
  memory.storage.capacity = 8 * kMiB;
  memory.reserve(5 * kMiB);
  EXPECT_EQ(memory.storage.in_use, 5 * kMiB);
  EXPECT_EQ(memory.reserve_error(7 * kMiB), ErrorCode::none);
  EXPECT_EQ(memory.storage.in_use, 7 * kMiB);
}

TEST(MemoryManagementTest, PersistentMemoryIsKeptForRequestsOfItsSizeAlone) {
  TestMemory memory;
  memory.management->allocation_mode(MemoryAllocationMode::persistent, kStream);
  ManagedMemory weights = memory.reserve(3 * kMiB);
  const StorageId page = slice(weights).place.storage;
  EXPECT_EQ(memory.storage.in_use, 3 * kMiB);
  weights = {};
  const ManagedMemory smaller = memory.reserve(3 * kMiB - 256);
  EXPECT_NE(slice(smaller).place.storage, page);
  const ManagedMemory same = memory.reserve(3 * kMiB);
  EXPECT_EQ(slice(same).place.storage, page);
}

TEST(MemoryManagementTest, AnAllocationOfNoBytesHasNoMemoryAndIsCounted) {
  TestMemory memory;
  ManagedMemory empty = memory.reserve(0);
  EXPECT_TRUE(slice(empty).backing);
  EXPECT_EQ(slice(empty).place, Placement{});
  EXPECT_EQ(memory.storage.asked, 0U);
  EXPECT_EQ(memory.management->usage(kStream).allocation_count, 1U);
  empty = {};
  memory.management->drain_dropped();
  EXPECT_EQ(memory.management->usage(kStream).allocation_count, 0U);
}

TEST(MemoryManagementTest, OneLargeTensorReservesLittleMoreThanItself) {
  TestMemory memory;
  const ManagedMemory tensor = memory.reserve(589 * kMiB);
  EXPECT_LE(memory.storage.in_use, 589 * kMiB * 101 / 100);
}

TEST(MemoryManagementTest, AdaptivePagesGrowWithTheLargestRequestAndAreReportedBySize) {
  TestMemory memory;
  std::vector<ManagedMemory> kept;
  for (const std::uint64_t size : {1 * kMiB, 40 * kMiB, 3 * kMiB, 300 * kMiB})
    kept.push_back(memory.reserve(size));
  std::vector<std::uint64_t> sizes;
  for (const MemoryPoolReport& pool : memory.management->report(kStream).pools) {
    if (pool.kind == MemoryPoolKind::adaptive) sizes.push_back(pool.page_size);
  }
  EXPECT_THAT(sizes, ::testing::SizeIs(::testing::Ge(3U)));
  EXPECT_THAT(sizes, ::testing::WhenSorted(::testing::ElementsAreArray(sizes)));
}

TEST(MemoryManagementTest, SmallAllocationsDoNotHoldLargePages) {
  TestMemory memory;
  ManagedMemory large = memory.reserve(64 * kMiB);
  const ManagedMemory small = memory.reserve(64);
  EXPECT_NE(slice(large).place.storage, slice(small).place.storage);
  large = {};
  memory.management->cleanup(kStream);
  EXPECT_LE(memory.storage.in_use, 2 * kMiB);
}

TEST(MemoryManagementTest, ARequestOverTheDeviceLimitNamesBothNumbersAndTheRestGoesOn) {
  TestMemory memory(16 * kMiB);
  const ManagedMemory handle = memory.reserve(16 * kMiB + 1);
  const Error& error = slice(handle).backing.error();
  EXPECT_EQ(error.code(), ErrorCode::buffer_too_big);
  EXPECT_EQ(error.requested(), 16 * kMiB + 1);
  EXPECT_EQ(error.limit(), 16 * kMiB);
  EXPECT_EQ(memory.reserve_error(16 * kMiB), ErrorCode::none);
  EXPECT_EQ(memory.reserve_error(~std::uint64_t{0}), ErrorCode::buffer_too_big);
}

TEST(MemoryManagementTest, ARequestOfMoreThanFourGibibytesIsServed) {
  TestMemory memory(64 * 1024 * kMiB);
  const ManagedMemory handle = memory.reserve(5 * 1024 * kMiB);
  EXPECT_TRUE(slice(handle).backing);
  EXPECT_GE(memory.storage.in_use, 5 * 1024 * kMiB);
}

TEST(MemoryManagementTest, ARequestThatNoPoolTakesNamesTheLargest) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB)}));
  const ManagedMemory handle = memory.reserve(2 * kMiB);
  const Error& error = slice(handle).backing.error();
  EXPECT_EQ(error.code(), ErrorCode::page_sizes_exhausted);
  EXPECT_EQ(error.limit(), kMiB);
}

TEST(MemoryManagementTest, ACappedPoolRefusesWhatIsOverItsCapacity) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB, 0, 2 * kMiB)}));
  const ManagedMemory first = memory.reserve(kMiB);
  const ManagedMemory second = memory.reserve(kMiB);
  const ManagedMemory third = memory.reserve(kMiB);
  const Error& error = slice(third).backing.error();
  EXPECT_EQ(error.code(), ErrorCode::pool_capacity_exceeded);
  EXPECT_EQ(error.requested(), 3 * kMiB);
  EXPECT_EQ(error.limit(), 2 * kMiB);
  EXPECT_THAT(error.message(), HasSubstr("sliced 0"));
}

TEST(MemoryManagementTest, WhatACappedPoolCannotTakeGoesToTheNext) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB, 0, kMiB), sliced(4 * kMiB)}));
  const ManagedMemory first = memory.reserve(kMiB);
  const ManagedMemory second = memory.reserve(kMiB);
  EXPECT_TRUE(slice(second).backing);
  EXPECT_EQ(memory.storage.in_use, 5 * kMiB);
}

TEST(MemoryManagementTest, TheMemoryLimitHoldsAndIsNamed) {
  TestMemory memory(1024 * kMiB, {.limit = 8 * kMiB});
  ManagedMemory first = memory.reserve(6 * kMiB);
  const ManagedMemory second = memory.reserve(4 * kMiB);
  EXPECT_EQ(slice(second).backing.error().code(), ErrorCode::out_of_memory);
  EXPECT_EQ(slice(second).backing.error().limit(), 8 * kMiB);
  EXPECT_LE(memory.storage.in_use, 8 * kMiB);
  first = {};
  EXPECT_EQ(memory.reserve_error(8 * kMiB), ErrorCode::none);
  EXPECT_EQ(memory.reserve_error(9 * kMiB), ErrorCode::buffer_too_big);
}

TEST(MemoryManagementTest, TheOutOfMemoryCallbackMayFreeAndTheRequestIsTriedAgain) {
  ManagedMemory cache;
  std::uint64_t asked_for = 0;
  TestMemory memory(1024 * kMiB, {.limit = 8 * kMiB, .out_of_memory = [&](std::uint64_t bytes) {
                                    asked_for = bytes;
                                    cache = {};
                                    return true;
                                  }});
  cache = memory.reserve(6 * kMiB);
  EXPECT_EQ(memory.reserve_error(7 * kMiB), ErrorCode::none);
  EXPECT_EQ(asked_for, 7 * kMiB);
}

TEST(MemoryManagementTest, PoolsInUseStayAndNewStreamsGetTheLayout) {
  TestMemory memory;
  ManagedMemory live = memory.reserve(kMiB);
  const Result<void> installed = memory.install({sliced(4 * kMiB)});
  ASSERT_FALSE(installed);
  EXPECT_EQ(installed.error().code(), ErrorCode::pools_in_use);
  const ManagedMemory other = memory.reserve(kMiB, kOther);
  EXPECT_EQ(memory.management->report(kOther).pools.front().page_size, 4 * kMiB);
  EXPECT_EQ(memory.management->report(kStream).pools.front().name, "small");
  live = {};
  EXPECT_TRUE(memory.install({sliced(4 * kMiB)}));
}

TEST(MemoryManagementTest, PersistentAndAuxiliaryMemoryDoesNotKeepPoolsFromBeingReplaced) {
  TestMemory memory;
  memory.management->allocation_mode(MemoryAllocationMode::persistent, kStream);
  const ManagedMemory weights = memory.reserve(kMiB);
  Slice& staging = **memory.management->reserve_auxiliary(kMiB, kStream);
  EXPECT_TRUE(memory.install({sliced(4 * kMiB)}));
  EXPECT_EQ(memory.management->report(kStream).pools.back().usage.bytes_in_use, kMiB);
  memory.management->release_auxiliary(staging);
  EXPECT_EQ(memory.management->report(kStream).pools.back().usage.bytes_in_use, 0U);
}

TEST(MemoryManagementTest, AnInvalidLayoutIsRefusedAndChangesNothing) {
  TestMemory memory(16 * kMiB);
  const std::vector<std::vector<MemoryPoolOptions>> invalid{
      {},
      {sliced(kMiB, 2 * kMiB)},
      {sliced(2 * kMiB, 0, kMiB)},
      {sliced(32 * kMiB)},
      {{MemoryPoolKind::direct, kMiB, 0, 0, 0}},
      {{MemoryPoolKind::auxiliary, 0, 0, 0, 0}},
  };
  for (const auto& pools : invalid) {
    const Result<void> installed = memory.install(pools);
    ASSERT_FALSE(installed);
    EXPECT_EQ(installed.error().code(), ErrorCode::validation);
  }
  const ManagedMemory live = memory.reserve(kMiB);
  EXPECT_EQ(memory.management->report(kStream).pools.front().name, "small");
}

TEST(MemoryManagementTest, EveryPresetServesSmallAndLarge) {
  for (const MemoryPreset preset :
       {MemoryPreset::adaptive, MemoryPreset::sub_slices, MemoryPreset::exclusive_pages}) {
    TestMemory memory;
    ASSERT_TRUE(memory.management->install_pools({preset, {}}, kStream));
    std::vector<ManagedMemory> live;
    for (std::uint64_t size = 1; size <= 1024 * kMiB; size *= 4) live.push_back(memory.reserve(size));
    for (const ManagedMemory& handle : live) EXPECT_TRUE(slice(handle).backing);
  }
}

TEST(MemoryManagementTest, UsageAndPeaksFollowWhatIsLive) {
  TestMemory memory;
  ASSERT_TRUE(memory.install({sliced(kMiB)}));
  ManagedMemory first = memory.reserve(100);
  const ManagedMemory second = memory.reserve(1000);
  MemoryUsage usage = memory.management->usage(kStream);
  EXPECT_EQ(usage.allocation_count, 2U);
  EXPECT_EQ(usage.bytes_in_use, 1100U);
  EXPECT_EQ(usage.bytes_padding, 256U + 1024U - 1100U);
  EXPECT_EQ(usage.bytes_reserved, kMiB);
  first = {};
  memory.management->drain_dropped();
  usage = memory.management->usage(kStream);
  EXPECT_EQ(usage.bytes_in_use, 1000U);
  const MemoryPoolReport pool = memory.management->report(kStream).pools.front();
  EXPECT_EQ(pool.peak_bytes_in_use, 1100U);
  EXPECT_EQ(pool.peak_bytes_reserved, kMiB);
}

TEST(MemoryManagementTest, CleanupGivesBackWhatNothingUses) {
  TestMemory memory;
  ManagedMemory first = memory.reserve(16 * kMiB);
  memory.reserve(16 * kMiB, kOther);
  first = {};
  memory.management->cleanup(kStream);
  EXPECT_EQ(memory.storage.in_use, 16 * kMiB);
  memory.management->cleanup(kOther);
  EXPECT_EQ(memory.storage.in_use, 0U);
}

TEST(MemoryManagementTest, PeriodicCleanupGivesBackLongIdlePagesWithoutWaiting) {
  TestMemory memory(1024 * kMiB, {.cleanup_period = 8});
  memory.progress.at_once = true;
  memory.reserve(16 * kMiB);
  for (int i = 0; i < 8 * 64; ++i) memory.reserve(64);
  EXPECT_LE(memory.storage.in_use, 2 * kMiB);
  EXPECT_EQ(memory.progress.waits, 0U);
}

TEST(MemoryManagementTest, FailuresOfFreedMemoryAreForgotten) {
  TestMemory memory;
  ManagedMemory handle = memory.reserve(64);
  memory.failures.claim(std::vector{TrackedRange{&slice(handle).tracked, handle.get(), 0, 64}},
                        Error(ErrorCode::launch_unknown, "The test failed."), "test", kStream);
  EXPECT_EQ(memory.failures.size(), 1U);
  handle = {};
  memory.management->drain_dropped();
  EXPECT_EQ(memory.failures.size(), 0U);
}

TEST(MemoryManagementTest, LiveMemoryIsReleasedWithTheManagement) {
  TestMemory memory;
  const ManagedMemory live = memory.reserve(kMiB);
  const ManagedMemory failed = memory.reserve(~std::uint64_t{0});
  const ManagedMemory empty = memory.reserve(0);
  memory.management.reset();
  EXPECT_EQ(memory.storage.in_use, 0U);
}

}  // namespace
}  // namespace backplane::toolkit
