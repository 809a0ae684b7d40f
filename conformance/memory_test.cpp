#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "harness/test.h"

namespace backplane::conformance {
namespace {

class Memory : public Test {};

TEST_F(Memory, FreshMemoryCanBeRead) {
  const Buffer<std::uint32_t> fresh = client.empty<std::uint32_t>(100, "fresh");
  const auto values = client.read(fresh);
  ASSERT_TRUE(values) << values.error();
  EXPECT_EQ(values->size(), 100U);
}

TEST_F(Memory, ZeroSizedBuffersAreAllocatedWrittenAndReadFromManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([this] {
      const Buffer<float> nothing = client.create(std::vector<float>());
      const auto values = client.read(nothing);
      ASSERT_TRUE(values) << values.error();
      EXPECT_TRUE(values->empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Memory, AnAllocationOverTheLimitNamesTheLimitAndTheClientGoesOn) {
  const std::uint64_t limit = client.properties().limits.allocation_bytes;
  ASSERT_GT(limit, 0U);
  const BufferHandle huge = client.allocate(limit + 1, "huge");
  const auto read = client.read_bytes(huge);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::buffer_too_big);
  EXPECT_EQ(read.error().requested(), limit + 1);
  EXPECT_EQ(read.error().limit(), limit);
  EXPECT_THAT(read.error().message(), ::testing::HasSubstr("\"huge\""));

  const std::vector<float> values = random_floats(10);
  EXPECT_EQ(client.read(client.create(values)).value(), values);
}

TEST_F(Memory, WritingToMemoryThatWasNeverAllocatedDoesNotMakeItReadable) {
  const BufferHandle huge = client.allocate(client.properties().limits.allocation_bytes + 1);
  client.write_bytes(huge, std::array{std::byte{1}});
  EXPECT_EQ(client.read_bytes(huge).error().code(), ErrorCode::buffer_too_big);
}

TEST_F(Memory, UsageCountsWhatIsAliveAndForgetsWhatWasDropped) {
  ASSERT_TRUE(client.memory_cleanup());
  const MemoryUsage before = client.memory_usage().value();
  {
    const BufferHandle a = client.allocate(1 << 20);
    const BufferHandle b = client.allocate(1 << 20);
    const MemoryUsage during = client.memory_usage().value();
    EXPECT_EQ(during.allocation_count, before.allocation_count + 2);
    EXPECT_EQ(during.bytes_in_use, before.bytes_in_use + (2 << 20));
    EXPECT_GE(during.bytes_reserved, during.bytes_in_use);
  }
  ASSERT_TRUE(client.memory_cleanup());
  const MemoryUsage after = client.memory_usage().value();
  EXPECT_EQ(after.allocation_count, before.allocation_count);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
}

TEST_F(Memory, ASliceKeepsTheWholeAllocationAlive) {
  const std::vector<float> values = random_floats(1000);
  const auto make_slice = [&] { return client.create(values).slice(100, 50); };
  const Buffer<float> slice = make_slice();
  ASSERT_TRUE(client.memory_cleanup());
  EXPECT_EQ(client.read(slice).value(), std::vector<float>(values.begin() + 100, values.begin() + 150));
}

TEST_F(Memory, TenThousandAllocationsReachAPlateau) {
  std::uint64_t peak_of_first_half = 0;
  std::uint64_t peak_of_second_half = 0;
  for (int step = 0; step < 10'000; ++step) {
    const BufferHandle temporary = client.allocate(1024 + random() % 65'536);
    if (step % 100 != 0) continue;
    std::uint64_t& peak = step < 5'000 ? peak_of_first_half : peak_of_second_half;
    peak = std::max(peak, client.memory_usage().value().bytes_reserved);
  }
  EXPECT_LE(peak_of_second_half, peak_of_first_half + (1 << 20));
}

TEST_F(Memory, HandlesMayBeDroppedByAnyThreadWhileOthersAllocate) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int step = 0; step < 200; ++step) {
        BufferHandle handle = client.allocate(4096);
        std::thread([dropped = std::move(handle)] {}).join();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(client.sync());
}

}  // namespace
}  // namespace backplane::conformance
