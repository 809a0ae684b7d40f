#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <vector>

#include "harness/test.h"

namespace backplane::conformance {
namespace {

class Transfer : public Test {};

TEST_F(Transfer, WhatIsWrittenIsReadBackAtEverySize) {
  for (const std::size_t count : {1U, 2U, 3U, 63U, 64U, 65U, 1000U, 4096U, 100'003U}) {
    const std::vector<std::uint32_t> values = random_words(count);
    const auto read = client.read(client.create(values));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(*read, values) << count << " elements";
  }
}

TEST_F(Transfer, AWriteTouchesItsBytesAlone) {
  const GuardedBuffer guarded(client, 1000, "guarded");
  client.write(guarded.as<std::byte>(), std::vector<std::byte>(1000, std::byte{7}));
  EXPECT_THAT(client.read(guarded.as<std::byte>()).value(), ::testing::Each(std::byte{7}));
  guarded.expect_guards_intact();
}

TEST_F(Transfer, AShortWriteKeepsTheRest) {
  std::vector<std::uint32_t> values = random_words(100);
  const Buffer<std::uint32_t> buffer = client.create(values);
  const std::vector<std::uint32_t> front = random_words(10);
  client.write(buffer, front);
  std::ranges::copy(front, values.begin());
  EXPECT_EQ(client.read(buffer).value(), values);
}

TEST_F(Transfer, SourcesMayGoOnceTheWriteReturned) {
  std::vector<std::uint32_t> values = random_words(10'000);
  const std::vector<std::uint32_t> expected = values;
  const Buffer<std::uint32_t> buffer = client.create(values);
  std::ranges::fill(values, 0U);
  EXPECT_EQ(client.read(buffer).value(), expected);
}

TEST_F(Transfer, ManyBuffersAreReadInTheOrderAsked) {
  const std::vector<std::uint32_t> a = random_words(10);
  const std::vector<std::uint32_t> b = random_words(1000);
  const Buffer<std::uint32_t> first = client.create(a);
  const Buffer<std::uint32_t> second = client.create(b);
  const auto blocks = client.read_many({second, first, second.slice(10, 5)});
  ASSERT_TRUE(blocks) << blocks.error();
  ASSERT_EQ(blocks->size(), 3U);
  EXPECT_THAT((*blocks)[0].as<std::uint32_t>(), ::testing::ElementsAreArray(b));
  EXPECT_THAT((*blocks)[1].as<std::uint32_t>(), ::testing::ElementsAreArray(a));
  EXPECT_THAT((*blocks)[2].as<std::uint32_t>(), ::testing::ElementsAreArray(std::span(b).subspan(10, 5)));
}

TEST_F(Transfer, ReadingNothingAnswersNothing) {
  const auto blocks = client.read_many({});
  ASSERT_TRUE(blocks) << blocks.error();
  EXPECT_TRUE(blocks->empty());
}

TEST_F(Transfer, AnAsynchronousReadCanBeWaitedForAskedAndLeft) {
  const std::vector<std::uint32_t> values = random_words(1000);
  const Buffer<std::uint32_t> buffer = client.create(values);
  Deferred<Result<Bytes>> later = client.read_async(buffer);
  EXPECT_TRUE(later.wait_for(std::chrono::minutes(1)));
  EXPECT_TRUE(later.ready());
  EXPECT_THAT(later.wait().value().as<std::uint32_t>(), ::testing::ElementsAreArray(values));
  EXPECT_FALSE(later.valid());
  static_cast<void>(client.read_async(buffer));  // leaving it behind neither blocks nor harms
  EXPECT_TRUE(client.sync());
}

TEST_F(Transfer, AnAsynchronousReadCanCallBack) {
  const std::vector<std::uint32_t> values = random_words(1000);
  std::promise<Result<Bytes>> promise;
  client.read_async(client.create(values)).on_ready([&promise](Result<Bytes> bytes) {
    promise.set_value(std::move(bytes));
  });
  const Result<Bytes> bytes = promise.get_future().get();
  ASSERT_TRUE(bytes) << bytes.error();
  EXPECT_THAT(bytes->as<std::uint32_t>(), ::testing::ElementsAreArray(values));
}

TEST_F(Transfer, AWriteLargerThanItsBufferLeavesItUnwritten) {
  const Buffer<std::uint32_t> buffer = client.create(random_words(10), "small");
  client.write(buffer, random_words(11));
  const auto read = client.read(buffer);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::validation);
  EXPECT_EQ(read.error().requested(), 44U);
  EXPECT_EQ(read.error().limit(), 40U);
  const std::vector<std::uint32_t> values = random_words(10);
  client.write(buffer, values);
  EXPECT_EQ(client.read(buffer).value(), values);
}

TEST_F(Transfer, ABlockThatIsHandedOverIsWrittenAndReleased) {
  static std::atomic<int> released;
  released = 0;
  static std::array<std::byte, 64> block;
  block.fill(std::byte{42});
  const BufferHandle buffer = client.allocate(64);
  client.write(buffer, Bytes(
                           block.data(), block.size(), BytesKind::heap,
                           [](void*, std::byte*, std::size_t) noexcept { ++released; }, nullptr));
  EXPECT_THAT(client.read_bytes(buffer).value().span(), ::testing::Each(std::byte{42}));
  ASSERT_TRUE(client.sync());
  EXPECT_EQ(released, 1);
}

}  // namespace
}  // namespace backplane::conformance
