#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <backplane/toolkit/metadata_cache.h>

#include "memory_test_support.h"

namespace backplane::toolkit {
namespace {

class MetadataCacheTest : public ::testing::Test {
 protected:
  Slice* get(std::string_view text) {
    return cache
        .get(std::as_bytes(std::span(text)),
             [&](const Slice& slice, std::span<const std::byte> bytes) -> Result<void> {
               ++uploads;
               std::memcpy(memory.storage.data(slice.place), bytes.data(), bytes.size());
               return {};
             })
        .value();
  }

  std::uint64_t live() { return memory.management->report(kStream).pools.back().usage.allocation_count; }

  TestMemory memory{1024 * kMiB, {}, true};
  MetadataCache cache{*memory.management, kStream, 2};
  int uploads = 0;
};

TEST_F(MetadataCacheTest, TheSameBytesAreUploadedOnce) {
  Slice* const first = get("shape");
  EXPECT_EQ(get("shape"), first);
  EXPECT_NE(get("shapes"), first);
  EXPECT_EQ(uploads, 2);
  EXPECT_EQ(std::memcmp(memory.storage.data(first->place), "shape", 5), 0);
}

TEST_F(MetadataCacheTest, TheLeastRecentlyUsedGoesFirst) {
  get("a");
  get("b");
  get("a");
  get("c");
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(live(), 2U);
  get("a");
  EXPECT_EQ(uploads, 3);
  get("b");
  EXPECT_EQ(uploads, 4);
}

TEST_F(MetadataCacheTest, WhatARecordingUsesStaysUntilItIsForgotten) {
  const RecordingId recording = cache.begin_recording();
  for (const char* text : {"a", "b", "c", "a"}) get(text);
  cache.end_recording();
  get("d");
  EXPECT_EQ(cache.size(), 4U);
  cache.clear();
  EXPECT_EQ(cache.size(), 3U);
  cache.forget_recording(recording);
  EXPECT_EQ(cache.size(), 2U);
  cache.clear();
  EXPECT_EQ(live(), 0U);
}

TEST_F(MetadataCacheTest, AFailedUploadKeepsNothing) {
  const Result<Slice*> slice =
      cache.get(std::as_bytes(std::span("a")), [](const Slice&, std::span<const std::byte>) -> Result<void> {
        return Error(ErrorCode::io_unknown, "The test cannot write.");
      });
  EXPECT_FALSE(slice);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(live(), 0U);
}

}  // namespace
}  // namespace backplane::toolkit
