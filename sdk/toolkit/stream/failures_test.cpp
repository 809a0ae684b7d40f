#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/toolkit/failures.h>

namespace backplane::toolkit {
namespace {

using ::testing::HasSubstr;

constexpr StreamId kStream{1};
constexpr StreamId kOther{2};

/// An allocation as a server would keep it.
struct Memory {
  Memory(Failures& failures, std::string label)
      : handle(ManagedMemory::create(64, std::move(label), std::make_shared<DroppedAllocations>())),
        tracked(failures.track()) {}

  TrackedRange range(std::uint64_t begin = 0, std::uint64_t end = 64) {
    return {&tracked, handle.get(), begin, end};
  }

  ManagedMemory handle;
  TrackedMemory tracked;
};

class FailuresTest : public ::testing::Test {
 protected:
  Error failed() const {
    return {ErrorCode::launch_too_many_resources, "2048 invocations exceed the limit of 1024."};
  }

  void fail(Memory& memory, std::uint64_t begin = 0, std::uint64_t end = 64) {
    scope.over("kernel \"reduce\"", std::array{memory.range(begin, end)},
               [&]() -> Result<void> { return failed(); });
  }

  void succeed(Memory& memory, std::uint64_t begin = 0, std::uint64_t end = 64) {
    scope.over("write", std::array{memory.range(begin, end)}, []() -> Result<void> { return {}; });
  }

  bool launch(const std::string& kernel, Memory& read, Memory& written) {
    return scope.launching(kernel, std::array{read.range()}, std::array{written.range()},
                           []() -> Result<void> { return {}; });
  }

  Result<void> read(Memory& memory, std::uint64_t begin = 0, std::uint64_t end = 64) {
    return failures.ensure_written(std::array{memory.range(begin, end)});
  }

  Failures failures;
  ExecuteScope scope{failures, kStream};
};

TEST_F(FailuresTest, FreshMemoryReads) {
  Memory a(failures, "a");
  EXPECT_TRUE(read(a));
}

TEST_F(FailuresTest, AFailedWriterIsReportedAsOftenAsAsked) {
  Memory a(failures, "a");
  Memory untouched(failures, "untouched");
  fail(a);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(a).error().code(), ErrorCode::launch_too_many_resources);
  EXPECT_TRUE(read(untouched));
}

TEST_F(FailuresTest, APartialWriteRecoversItsBytesOnly) {
  Memory a(failures, "a");
  fail(a);
  succeed(a, 8, 16);
  EXPECT_TRUE(read(a, 8, 16));
  EXPECT_FALSE(read(a, 7, 16));
  EXPECT_FALSE(read(a, 8, 17));
  EXPECT_EQ(failures.size(), 1U);
}

TEST_F(FailuresTest, ASkippedLaunchIsNotRunAndItsOutputInherits) {
  Memory mean(failures, "mean");
  Memory y(failures, "y");
  fail(mean);
  EXPECT_FALSE(launch("normalise", mean, y));
  const Result<void> result = read(y);
  EXPECT_EQ(result.error().code(), ErrorCode::skipped);
  EXPECT_EQ(result.error().causes().front().code(), ErrorCode::launch_too_many_resources);
  EXPECT_THAT(
      result.error().to_string(),
      HasSubstr(
          "Buffer \"y\" cannot be read: kernel \"normalise\" was skipped because it needed buffer \"mean\", "
          "which kernel \"reduce\" was to write; that failed: 2048 invocations"));
}

TEST_F(FailuresTest, ASkipTwoHopsDownNamesRootAndPath) {
  Memory a(failures, "a");
  Memory b(failures, "b");
  Memory c(failures, "c");
  fail(a);
  launch("first", a, b);
  launch("second", b, c);
  EXPECT_THAT(
      read(c).error().message(),
      HasSubstr("kernel \"second\" was skipped because it needed buffer \"b\", which kernel \"first\" was to "
                "write; "
                "that was skipped because it needed buffer \"a\", which kernel \"reduce\" was to write"));
}

TEST_F(FailuresTest, ALaunchSkippedInPlaceReportsTheFailureItself) {
  Memory a(failures, "a");
  fail(a);
  EXPECT_FALSE(launch("double", a, a));
  EXPECT_EQ(read(a).error().code(), ErrorCode::launch_too_many_resources);
}

TEST_F(FailuresTest, ASkipLiftsNoClaim) {
  Memory a(failures, "a");
  Memory b(failures, "b");
  fail(a);
  fail(b);
  launch("copy", a, b);
  EXPECT_FALSE(read(b));
}

TEST_F(FailuresTest, SeveralFailuresAreReportedOnceEach) {
  Memory a(failures, "a");
  Memory b(failures, "b");
  fail(a);
  fail(b);
  const Result<void> result = failures.ensure_written(std::array{a.range(), b.range(), a.range(0, 8)});
  EXPECT_EQ(result.error().code(), ErrorCode::several);
  EXPECT_EQ(result.error().causes().size(), 2U);
}

TEST_F(FailuresTest, FreeingTheLastCarrierEmptiesTheGraph) {
  Memory a(failures, "a");
  Memory b(failures, "b");
  fail(a);
  launch("copy", a, b);
  failures.forget(a.tracked);
  EXPECT_EQ(failures.size(), 1U);
  failures.forget(b.tracked);
  EXPECT_EQ(failures.size(), 0U);
}

TEST_F(FailuresTest, RewritingTheLastBytesEmptiesTheGraph) {
  Memory a(failures, "a");
  fail(a);
  succeed(a, 0, 32);
  succeed(a, 32, 64);
  EXPECT_EQ(failures.size(), 0U);
  EXPECT_TRUE(read(a));
}

TEST_F(FailuresTest, AClaimOnNoBytesLeavesNoFailureBehind) {
  Memory a(failures, "a");
  failures.claim(std::array{a.range(5, 5)}, failed(), "launch", kStream);
  EXPECT_EQ(failures.size(), 0U);
}

TEST_F(FailuresTest, AnExceptionLeavesTheWriteSetClaimed) {
  Memory a(failures, "a");
  EXPECT_THROW(
      scope.over("write", std::array{a.range()}, []() -> Result<void> { throw std::runtime_error("boom"); }),
      std::runtime_error);
  EXPECT_EQ(read(a).error().code(), ErrorCode::unwritten);
  succeed(a);
  EXPECT_TRUE(read(a));
}

TEST_F(FailuresTest, OnlyTheNewestSkipsAreKeptAndAllAreCounted) {
  Memory a(failures, "a");
  Memory out(failures, "out");
  fail(a);
  for (int i = 0; i < 40; ++i) launch("k" + std::to_string(i), a, out);
  EXPECT_THAT(read(out).error().message(), HasSubstr("kernel \"k39\" was skipped"));
}

TEST_F(FailuresTest, AWindowSeesFailuresOfItsOwnStreamAlone) {
  Memory a(failures, "a");
  const WindowId mine = failures.open_window(kStream);
  const WindowId neighbour = failures.open_window(kOther);
  fail(a);
  EXPECT_EQ(failures.close_window(mine)->error().code(), ErrorCode::launch_too_many_resources);
  EXPECT_TRUE(failures.close_window(neighbour)->has_value());
  EXPECT_FALSE(failures.close_window(mine).has_value());
}

TEST_F(FailuresTest, AWindowOpenedAfterAFailureIsClean) {
  Memory a(failures, "a");
  fail(a);
  const WindowId window = failures.open_window(kStream);
  EXPECT_TRUE(failures.close_window(window)->has_value());
}

}  // namespace
}  // namespace backplane::toolkit
