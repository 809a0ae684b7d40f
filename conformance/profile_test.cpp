#include <cstdint>
#include <stdexcept>
#include <vector>

#include "harness/test.h"

namespace backplane::conformance {
namespace {

class Profile : public Test {
 protected:
  void work(std::uint32_t count, int launches) {
    const Buffer<std::uint32_t> buffer = client.create(std::vector<std::uint32_t>(count, 0));
    for (int i = 0; i < launches; ++i)
      client.launch(increment, workgroups_for(count, 64), {buffer}, scalars(count));
    ASSERT_TRUE(client.sync({buffer}));
  }

  const Kernel increment = installed_kernel("increment");
};

TEST_F(Profile, MoreWorkTakesMoreTime) {
  work(1, 1);  // compiles
  const auto little = client.profile([this] { work(1000, 1); });
  const auto much = client.profile([this] { work(1'000'000, 100); });
  ASSERT_TRUE(little) << little.error();
  ASSERT_TRUE(much) << much.error();
  EXPECT_GT(much->nanoseconds(), little->nanoseconds());
}

TEST_F(Profile, WindowsNest) {
  std::uint64_t inside = 0;
  const auto outside = client.profile([&] {
    const auto measured = client.profile([this] { work(100'000, 10); });
    ASSERT_TRUE(measured) << measured.error();
    inside = measured->nanoseconds();
  });
  ASSERT_TRUE(outside) << outside.error();
  EXPECT_GE(outside->nanoseconds(), inside);
}

TEST_F(Profile, AnExceptionInsideAbandonsTheWindowAndGoesOn) {
  EXPECT_THROW(static_cast<void>(client.profile([] { throw std::runtime_error("stop"); })),
               std::runtime_error);
  EXPECT_TRUE(client.profile([this] { work(100, 1); }));
}

}  // namespace
}  // namespace backplane::conformance
