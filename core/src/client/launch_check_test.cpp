#include "client/launch_check.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pure_server.h"

namespace backplane {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LaunchCheck : public ::testing::Test {
 protected:
  LaunchCheck() {
    kernel.label = "reduce";
    kernel.bindings = {{Access::read, 16}, {Access::write, 0}};
    kernel.scalar_bytes = 8;
    kernel.workgroup_size = {8, 8, 1};
  }

  Result<void> check(const WorkgroupCount& count = {}) {
    return check_launch(kernel, count, buffers, scalars, properties, "test:0");
  }

  void expect_limit(const Result<void>& result, std::uint64_t requested, std::uint64_t limit) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::launch_too_many_resources);
    EXPECT_EQ(result.error().requested(), requested);
    EXPECT_EQ(result.error().limit(), limit);
    EXPECT_THAT(result.error().message(),
                AllOf(HasSubstr("\"reduce\""), HasSubstr(std::to_string(requested)),
                      HasSubstr(std::to_string(limit)), HasSubstr("test:0, Test device")));
  }

  PureServer server;
  DeviceProperties properties = server.utilities()->properties;
  KernelDefinition kernel;
  ManagedMemory memory = ManagedMemory::create(64, "input", std::make_shared<DroppedAllocations>());
  std::vector<BufferBinding> buffers{{memory.get(), 0, 64}, {memory.get(), 0, 64}};
  std::vector<std::byte> scalars = std::vector<std::byte>(8);
};

TEST_F(LaunchCheck, AcceptsWhatFits) {
  EXPECT_TRUE(check_kernel(kernel, properties, "test:0"));
  EXPECT_TRUE(check());
}

TEST_F(LaunchCheck, NamesEveryKernelLimit) {
  kernel.workgroup_size = {65, 1, 1};
  expect_limit(check_kernel(kernel, properties, "test:0"), 65, 64);
  kernel.workgroup_size = {64, 2, 1};
  expect_limit(check_kernel(kernel, properties, "test:0"), 128, 64);
  kernel.workgroup_size = {1, 1, 1};
  kernel.workgroup_memory_bytes = 2048;
  expect_limit(check_kernel(kernel, properties, "test:0"), 2048, 1024);
  kernel.workgroup_memory_bytes = 0;
  kernel.scalar_bytes = 65;
  expect_limit(check_kernel(kernel, properties, "test:0"), 65, 64);
  kernel.scalar_bytes = 0;
  kernel.bindings.resize(9);
  expect_limit(check_kernel(kernel, properties, "test:0"), 9, 8);
}

TEST_F(LaunchCheck, NamesMissingCapabilities) {
  kernel.requires_capabilities = {Capability::float64, Capability::subgroup};
  const Result<void> result = check_kernel(kernel, properties, "test:0");
  EXPECT_EQ(result.error().code(), ErrorCode::compilation_unsupported);
  EXPECT_THAT(result.error().message(), HasSubstr("float64, subgroup"));
}

TEST_F(LaunchCheck, NamesTheNumberOfWorkgroups) {
  expect_limit(check({.x = 101, .y = 1, .z = 1, .indirect = {}}), 101, 100);
  expect_limit(check({.x = 1, .y = 1, .z = 200, .indirect = {}}), 200, 100);
}

TEST_F(LaunchCheck, CountsBuffersAndScalars) {
  buffers.pop_back();
  EXPECT_THAT(check().error().message(), HasSubstr("it has 2 buffers and was given 1"));
  buffers.push_back(buffers.front());
  scalars.resize(7);
  EXPECT_THAT(check().error().message(), HasSubstr("8 bytes and it was given 7"));
  scalars.resize(16);
  EXPECT_TRUE(check()) << "a structure may end in padding";
  scalars.resize(24);
  EXPECT_FALSE(check());
}

TEST_F(LaunchCheck, LooksAtSizesAndAlignmentOfBuffers) {
  buffers[0].size = 15;
  EXPECT_THAT(check().error().message(), AllOf(HasSubstr("buffer 0 (\"input\")"), HasSubstr("at least 16")));
  EXPECT_TRUE(check({.x = 0, .y = 1, .z = 1, .indirect = {}})) << "nothing runs";
  buffers[0] = {memory.get(), 2, 20};
  EXPECT_THAT(check().error().message(), HasSubstr("begins at byte 2"));
}

TEST_F(LaunchCheck, AnIndirectCountNeedsTheCapabilityAndTwelveBytes) {
  EXPECT_EQ(check({.indirect = buffers[0]}).error().code(), ErrorCode::unsupported_operation);
  properties.capabilities.set(Capability::indirect);
  EXPECT_TRUE(check({.indirect = buffers[0]}));
  EXPECT_THAT(check({.indirect = {memory.get(), 0, 8}}).error().message(), HasSubstr("12 bytes"));
}

}  // namespace
}  // namespace backplane
