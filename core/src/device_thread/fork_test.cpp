#include "device_thread/fork.h"

#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_thread/device_thread.h"

namespace backplane {
namespace {

/// What a child made by fork exits with after `check` ran in it.
template <class Check>
int status_of_child(Check check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang is a failure, not a test that never ends
    _exit(check() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

std::unique_ptr<DeviceThread> make() {
  return DeviceThread::create({.name = "fork"},
                              [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(0)); })
      .value();
}

TEST(Fork, AChildIsToldAndItsDestructorsDoNotWait) {
  auto thread = make();
  ASSERT_EQ(thread->submit_retained([token = std::make_shared<int>(1)] {}), ErrorCode::none);
  EXPECT_EQ(status_of_child([&] {
              const auto called = thread->call([] { return 1; });
              const bool refused = thread->submit([] {}) == ErrorCode::forked && !called &&
                                   called.error().code() == ErrorCode::forked && !thread->shutdown() &&
                                   !DeviceThread::create({.name = "child"}, [] {
                                     return Result<std::unique_ptr<int>>(std::make_unique<int>(0));
                                   });
              thread.reset();
              return refused;
            }),
            0);
  EXPECT_FALSE(detail::forked());
  EXPECT_EQ(thread->call([] { return 2; }).value(), 2) << "the parent is unaffected";
}

}  // namespace
}  // namespace backplane
