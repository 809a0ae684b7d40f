#include "device_thread/thread_name.h"

#include <array>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <pthread.h>

namespace backplane::detail {
namespace {

TEST(ThreadName, KeepsWhatTheSystemCanShow) {
  EXPECT_EQ(short_thread_name("cuda:0"), "cuda:0");
  EXPECT_EQ(short_thread_name("fifteen bytes.."), "fifteen bytes..");
  EXPECT_EQ(short_thread_name("sixteen bytes..."), "sixteen bytes..");
}

TEST(ThreadName, DoesNotCutACharacter) {
  EXPECT_EQ(short_thread_name("14 bytes......\xC3\xA9"), "14 bytes......");
}

TEST(ThreadName, IsSeenByTheSystem) {
  std::array<char, 16> name{};
  std::thread([&] {
    set_thread_name("backplane device");
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_EQ(std::string(name.data()), "backplane devic");
}

}  // namespace
}  // namespace backplane::detail
