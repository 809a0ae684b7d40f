#include <cstdint>
#include <string>
#include <vector>

#include "harness/test.h"

namespace backplane::conformance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Failures and how they travel with the memory they left unwritten.
class Errors : public Test {
 protected:
  /// Has a launch fail that was to write `buffer`.
  void leave_unwritten(const Buffer<std::uint32_t>& buffer) const {
    client.launch(increment, client.properties().limits.workgroup_count[0], {buffer}, Scalars());
  }

  void copy(const Buffer<std::uint32_t>& from, const Buffer<std::uint32_t>& to) const {
    const auto count = static_cast<std::uint32_t>(to.size());
    client.launch(copy_words, workgroups_for(count, 64), {from, to}, scalars(count));
  }

  Buffer<std::uint32_t> make(const std::string& label) { return client.create(random_words(64), label); }

  const Kernel copy_words = installed_kernel("copy_words");
  const Kernel increment = installed_kernel("increment");
};

TEST_F(Errors, AFailedLaunchLeavesWhatItWasToWriteUnwrittenAndNothingElse) {
  const Buffer<std::uint32_t> written = make("written");
  const Buffer<std::uint32_t> untouched = make("untouched");
  leave_unwritten(written);
  EXPECT_EQ(client.read(written).error().code(), ErrorCode::validation);
  EXPECT_TRUE(client.read(untouched));
}

TEST_F(Errors, AnErrorIsReportedAsOftenAsItIsAskedFor) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  leave_unwritten(buffer);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(client.read(buffer));
    EXPECT_FALSE(client.check({buffer}));
    EXPECT_FALSE(client.sync({buffer}));
    EXPECT_EQ(client.read_async(buffer).wait().error().code(), ErrorCode::validation);
  }
  EXPECT_TRUE(client.sync());
  EXPECT_TRUE(client.flush());
}

TEST_F(Errors, AnotherStreamSeesTheFailure) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  const Stream other;
  {
    const Stream::Scope on = other.use();
    leave_unwritten(buffer);
  }
  EXPECT_FALSE(client.read(buffer));
}

TEST_F(Errors, AHostWriteRecovers) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  leave_unwritten(buffer);
  const std::vector<std::uint32_t> values = random_words(64);
  client.write(buffer, values);
  EXPECT_EQ(client.read(buffer).value(), values);
}

TEST_F(Errors, ALaunchThatWritesRecovers) {
  const Buffer<std::uint32_t> source = make("source");
  const Buffer<std::uint32_t> destination = make("destination");
  leave_unwritten(destination);
  copy(source, destination);
  EXPECT_EQ(client.read(destination).value(), client.read(source).value());
}

TEST_F(Errors, APartialWriteRecoversItsBytesOnly) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  leave_unwritten(buffer);
  const std::vector<std::uint32_t> values = random_words(16);
  client.write(buffer.slice(16, 16), values);
  EXPECT_EQ(client.read(buffer.slice(16, 16)).value(), values);
  EXPECT_FALSE(client.read(buffer.slice(0, 17)));
  EXPECT_FALSE(client.read(buffer.slice(31, 2)));
  EXPECT_FALSE(client.read(buffer));
}

TEST_F(Errors, ALaunchInPlaceOnUnwrittenMemoryIsSkipped) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  leave_unwritten(buffer);
  client.launch(increment, 1, {buffer}, scalars(64U));
  EXPECT_FALSE(client.read(buffer));
}

TEST_F(Errors, ASkippedLaunchReportsKernelBufferAndCause) {
  const Buffer<std::uint32_t> mean = make("mean");
  const Buffer<std::uint32_t> result = make("result");
  leave_unwritten(mean);
  copy(mean, result);
  const auto read = client.read(result);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::skipped);
  ASSERT_EQ(read.error().causes().size(), 1U);
  EXPECT_EQ(read.error().causes().front().code(), ErrorCode::validation);
  EXPECT_THAT(read.error().to_string(), AllOf(HasSubstr("\"result\""), HasSubstr("\"copy_words\""),
                                              HasSubstr("\"mean\""), HasSubstr("\"increment\"")));
}

TEST_F(Errors, ASkipTwoHopsDownNamesRootAndPath) {
  const Buffer<std::uint32_t> first = make("first");
  const Buffer<std::uint32_t> second = make("second");
  const Buffer<std::uint32_t> third = make("third");
  leave_unwritten(first);
  copy(first, second);
  copy(second, third);
  EXPECT_THAT(client.read(third).error().to_string(),
              AllOf(HasSubstr("\"third\""), HasSubstr("\"second\""), HasSubstr("\"first\""),
                    HasSubstr("scalar block")));
}

TEST_F(Errors, SeveralFailuresAreReportedTogetherEachOnce) {
  const Buffer<std::uint32_t> a = make("a");
  const Buffer<std::uint32_t> b = make("b");
  leave_unwritten(a);
  leave_unwritten(b);
  const auto read = client.read_many({a, b, a});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::several);
  EXPECT_EQ(read.error().causes().size(), 2U);
}

TEST_F(Errors, AKernelThatDoesNotCompileLeavesEverythingItWasHandedUnwritten) {
  const std::array<std::byte, 4> code{};
  const Kernel foreign = Kernel::from_native("foreign", static_cast<KernelForm>(200), code,
                                             {.buffers = {Access::read, Access::write}})
                             .value();
  const Buffer<std::uint32_t> input = make("input");
  const Buffer<std::uint32_t> output = make("output");
  client.launch(foreign, 1, {input, output});
  EXPECT_EQ(client.read(input).error().code(), ErrorCode::launch_compilation);
  EXPECT_EQ(client.read(output).error().code(), ErrorCode::launch_compilation);
}

TEST_F(Errors, AWrongNumberOfBuffersIsNamed) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  client.launch(increment, 1, {buffer, make("extra")}, scalars(64U));
  EXPECT_THAT(client.read(buffer).error().message(), HasSubstr("it has 1 buffers and was given 2"));
}

TEST_F(Errors, ALaunchWithTooFewBuffersLeavesAllItWasHandedUnwritten) {
  const Buffer<std::uint32_t> buffer = make("buffer");
  client.launch(copy_words, 1, {buffer}, scalars(64U));
  EXPECT_THAT(client.check({buffer}).error().to_string(), HasSubstr("it has 2 buffers and was given 1"));
}

TEST_F(Errors, ALaunchThatIsRefusedWithoutMemoryToCarryItInvalidatesAMeasurement) {
  const auto measured = client.profile([&] { client.launch(copy_words, 1, {}, scalars(64U)); });
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code(), ErrorCode::profile_launch);
}

TEST_F(Errors, ALimitOfTheDeviceIsNamedWithBothNumbers) {
  const std::uint32_t limit = client.properties().limits.workgroup_invocations;
  const Kernel wide =
      Kernel::from_glsl("wide",
                        "layout(local_size_x_id = 0) in; layout(binding = 0) buffer B { uint b[]; };"
                        "void main() { b[0] = 1; }")
          .value()
          .specialize({{0, limit + 1}})
          .value();
  const Buffer<std::uint32_t> buffer = make("buffer");
  client.launch(wide, 1, {buffer});
  const auto read = client.read(buffer);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::launch_too_many_resources);
  EXPECT_EQ(read.error().requested(), limit + 1);
  EXPECT_EQ(client.read(make("other")).value().size(), 64U);
}

TEST_F(Errors, ABufferSmallerThanTheKernelNeedsIsRefused) {
  const Buffer<std::uint32_t> output = make("output");
  client.launch(copy_words, 1, {client.empty<std::uint32_t>(0, "nothing"), output}, scalars(1U));
  EXPECT_THAT(client.read(output).error().message(), HasSubstr("\"nothing\""));
}

TEST_F(Errors, AFailureDoesNotReachAMeasurementOnAnotherStream) {
  const Stream other;
  const auto measured = client.profile([&] {
    const Stream::Scope on = other.use();
    leave_unwritten(make("elsewhere"));
  });
  EXPECT_TRUE(measured) << measured.error();
}

TEST_F(Errors, AFailureInsideAMeasurementInvalidatesIt) {
  const auto measured = client.profile([&] { leave_unwritten(make("inside")); });
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code(), ErrorCode::profile_launch);
}

}  // namespace
}  // namespace backplane::conformance
