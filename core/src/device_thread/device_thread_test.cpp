#include "device_thread/device_thread.h"

#include <gtest/gtest.h>
namespace backplane {
namespace {
TEST(DeviceThread, ReturnsWhatATaskReturns) {
  auto thread = DeviceThread::create(
      {.name = "test"}, []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(3); });
  ASSERT_TRUE(thread);
  int n = 0;
  EXPECT_EQ((*thread)->submit([&] { n = 4; }), ErrorCode::none);
  auto r = (*thread)->call([&] { return n; });
  ASSERT_TRUE(r);
  EXPECT_EQ(*r, 4);
}
}  // namespace
}  // namespace backplane
