#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_thread/device_thread.h"

namespace backplane {
namespace {

std::unique_ptr<DeviceThread> make() {
  return DeviceThread::create({.name = "test"}, [] { return std::make_unique<int>(0); }).value();
}

std::vector<int> numbers_up_to(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

TEST(CausalOrder, WhatAThreadHandedOverBeforeItEndedRunsBeforeWhatFollows) {
  constexpr int kRounds = 2000;
  const auto thread = make();
  std::vector<int> ran;
  for (int i = 0; i < kRounds; i += 2) {
    std::thread([&] { thread->submit([&ran, i] { ran.push_back(i); }); }).join();
    thread->submit([&ran, i] { ran.push_back(i + 1); });
  }
  ASSERT_TRUE(thread->call([] {}));
  EXPECT_EQ(ran, numbers_up_to(kRounds));
}

TEST(CausalOrder, ACallSeesWhatAnotherThreadHandedOverBefore) {
  const auto thread = make();
  for (int i = 0; i < 500; ++i) {
    int value = 0;
    std::thread([&] { thread->submit([&value] { value = 1; }); }).join();
    EXPECT_EQ(thread->call([&value] { return value; }).value(), 1);
  }
}

// Each thread hands over the next number when it sees that its predecessor has.
TEST(CausalOrder, ThreadsThatPassATokenRoundKeepItsOrder) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 4000;
  const auto thread = make();
  std::vector<int> ran;
  std::atomic<int> token = 0;
  std::vector<std::thread> threads;
  for (int self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      for (int number = self; number < kRounds; number += kThreads) {
        while (token.load(std::memory_order_acquire) != number) std::this_thread::yield();
        thread->submit([&ran, number] { ran.push_back(number); });
        token.store(number + 1, std::memory_order_release);
      }
    });
  }
  for (std::thread& one : threads) one.join();
  ASSERT_TRUE(thread->call([] {}));
  EXPECT_EQ(ran, numbers_up_to(kRounds));
}

}  // namespace
}  // namespace backplane
