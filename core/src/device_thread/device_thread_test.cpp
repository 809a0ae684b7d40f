#include "device_thread/device_thread.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane {
namespace {

using std::chrono::milliseconds;

Result<std::unique_ptr<int>> make_nothing() {
  return std::make_unique<int>(0);
}

std::unique_ptr<DeviceThread> make(DeviceThread::Options options = {.name = "test"}) {
  return DeviceThread::create(std::move(options), make_nothing).value();
}

/// Comes back when the runner has gone through an idle period, so that it is parked or about to.
void wait_until_idle(DeviceThread& thread, std::counting_semaphore<>& idle) {
  while (idle.try_acquire()) {
  }
  static_cast<void>(thread.submit([] {}));
  idle.acquire();
}

TEST(DeviceThread, MakesAndDestroysItsOwnerOnItsThread) {
  struct Owner {
    std::thread::id made_on = std::this_thread::get_id();
    std::thread::id* destroyed_on;
    explicit Owner(std::thread::id* where) : destroyed_on(where) {}
    ~Owner() { *destroyed_on = std::this_thread::get_id(); }
  };
  Owner* owner = nullptr;
  std::thread::id destroyed_on;
  auto thread = DeviceThread::create({.name = "test"}, [&]() -> Result<std::unique_ptr<Owner>> {
                  auto made = std::make_unique<Owner>(&destroyed_on);
                  owner = made.get();
                  return made;
                }).value();
  const auto runner = thread->call([] { return std::this_thread::get_id(); }).value();
  EXPECT_NE(runner, std::this_thread::get_id());
  EXPECT_EQ(owner->made_on, runner);
  EXPECT_TRUE(thread->shutdown());
  EXPECT_EQ(destroyed_on, runner);
}

TEST(DeviceThread, AnswersWithTheErrorOfItsFactory) {
  auto failed = DeviceThread::create({.name = "test"}, []() -> Result<std::unique_ptr<int>> {
    return Error(ErrorCode::no_device, "There is no device.");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::no_device);

  auto threw = DeviceThread::create(
      {.name = "test"}, []() -> Result<std::unique_ptr<int>> { throw std::runtime_error("broken driver"); });
  ASSERT_FALSE(threw);
  EXPECT_EQ(threw.error().code(), ErrorCode::exception);
  EXPECT_THAT(threw.error().message(), testing::HasSubstr("broken driver"));
}

TEST(DeviceThread, ACallReturnsWhatItsTaskReturns) {
  auto thread = make();
  EXPECT_EQ(thread->call([] { return 7; }).value(), 7);
  EXPECT_TRUE(thread->call([] {}));
  EXPECT_EQ(*thread->call([] { return std::make_unique<int>(8); }).value(), 8);
  std::string text(100, 'x');
  EXPECT_EQ(thread->call([&] { return text; }).value(), text);
  const auto large = thread->call([] { return std::array<int, 100>{1, 2, 3}; }).value();
  EXPECT_EQ(large[2], 3);

  const Result<int> flat =
      thread->call([]() -> Result<int> { return Error(ErrorCode::validation, "Too big."); });
  ASSERT_FALSE(flat);
  EXPECT_EQ(flat.error().code(), ErrorCode::validation);
}

TEST(DeviceThread, ACallMayChangeTheStateOfItsTask) {
  auto thread = make();
  auto counter = [count = 0]() mutable { return ++count; };
  EXPECT_EQ(thread->call(counter).value(), 1);
  EXPECT_EQ(thread->call(counter).value(), 2);
}

TEST(DeviceThread, ACallCarriesExceptionsBack) {
  for (const bool caller_may_run : {false, true}) {
    auto thread = make({.name = "test", .caller_may_run = caller_may_run});
    const auto known = thread->call([]() -> int { throw std::runtime_error("no such page"); });
    ASSERT_FALSE(known);
    EXPECT_EQ(known.error().code(), ErrorCode::exception);
    EXPECT_EQ(known.error().message(), "no such page");
    const auto unknown = thread->call([] { throw 42; });
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code(), ErrorCode::exception);
    EXPECT_EQ(thread->call([] { return 1; }).value(), 1) << "the thread goes on";
  }
}

TEST(DeviceThread, ReportsAnExceptionThatEscapesASubmittedTask) {
  std::vector<std::string> reports;
  auto thread =
      make({.name = "test", .on_exception = [&](const Error& error) { reports.push_back(error.message()); }});
  EXPECT_EQ(thread->submit([] { throw std::runtime_error("first"); }), ErrorCode::none);
  EXPECT_EQ(thread->submit_retained([] { throw std::runtime_error("second"); }), ErrorCode::none);
  EXPECT_EQ(thread->call([&] { return reports; }).value(), (std::vector<std::string>{"first", "second"}));
}

TEST(DeviceThread, RunsTheTasksOfOneCallerInOrderWhateverTheirSize) {
  auto thread = make();
  std::vector<int> ran;
  for (int i = 0; i < 3000; ++i) {
    ErrorCode answer = ErrorCode::none;
    if (i % 7 == 0) {
      answer =
          thread->submit([&ran, i, padding = std::array<char, 5000>{}] { ran.push_back(i + padding[0]); });
    } else if (i % 101 == 0) {
      answer =
          thread->submit([&ran, i, padding = std::array<char, 100000>{}] { ran.push_back(i + padding[0]); });
    } else {
      answer = thread->submit([&ran, i] { ran.push_back(i); });
    }
    ASSERT_EQ(answer, ErrorCode::none);
  }
  ASSERT_TRUE(thread->call([] {}));
  ASSERT_EQ(ran.size(), 3000U);
  EXPECT_TRUE(std::ranges::is_sorted(ran));
}

TEST(DeviceThread, KeepsTheAlignmentOfATask) {
  struct alignas(128) Aligned {
    std::uintptr_t* address;
    void operator()() const { *address = reinterpret_cast<std::uintptr_t>(this); }
  };
  auto thread = make();
  std::uintptr_t address = 1;
  EXPECT_EQ(thread->submit(Aligned{&address}), ErrorCode::none);
  ASSERT_TRUE(thread->call([] {}));
  EXPECT_EQ(address % 128, 0U);
}

TEST(DeviceThread, AFullLaneMakesItsCallerWaitAndLosesNothing) {
  auto thread = make();
  std::binary_semaphore gate(0);
  std::uint64_t ran = 0;
  ASSERT_EQ(thread->submit([&] { gate.acquire(); }), ErrorCode::none);
  std::atomic<int> submitted{0};
  constexpr int kTasks = 5000;  // more than a lane holds
  std::thread caller([&] {
    for (int i = 0; i < kTasks; ++i) {
      EXPECT_EQ(thread->submit([&ran] { ++ran; }), ErrorCode::none);
      submitted.fetch_add(1);
    }
    EXPECT_TRUE(thread->call([] {}));
  });
  while (submitted.load() < 1000) std::this_thread::yield();
  EXPECT_LT(submitted.load(), kTasks);
  gate.release();
  caller.join();
  EXPECT_EQ(ran, static_cast<std::uint64_t>(kTasks));
}

TEST(DeviceThread, ALoneSubmitStartsByItself) {
  std::counting_semaphore<> idle(0);
  auto thread = make({.name = "test", .on_idle = [&] { idle.release(); }});
  for (int i = 0; i < 50; ++i) {
    wait_until_idle(*thread, idle);
    std::binary_semaphore ran(0);
    EXPECT_EQ(thread->submit([&] { ran.release(); }), ErrorCode::none);
    ran.acquire();
  }
}

TEST(DeviceThread, CallsTheIdleHookOncePerIdlePeriod) {
  std::atomic<int> calls{0};
  std::counting_semaphore<> idle(0);
  auto thread = make({.name = "test", .on_idle = [&] {
                        calls.fetch_add(1);
                        idle.release();
                      }});
  wait_until_idle(*thread, idle);
  const int before = calls.load();
  wait_until_idle(*thread, idle);
  EXPECT_EQ(calls.load(), before + 1);
}

TEST(DeviceThread, TheRunnerDestroysASubmittedTask) {
  auto thread = make();
  auto token = std::make_shared<int>(1);
  ASSERT_EQ(thread->submit([token] {}), ErrorCode::none);
  ASSERT_TRUE(thread->call([] {}));
  EXPECT_EQ(token.use_count(), 1);
}

/// Notes the thread it is destroyed on.
struct Witness {
  std::thread::id* where;
  explicit Witness(std::thread::id* place) : where(place) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() { *where = std::this_thread::get_id(); }
};

TEST(DeviceThread, TheCallerDestroysARetainedTaskAfterItsNextBlockingCall) {
  for (const bool caller_may_run : {false, true}) {
    auto thread = make({.name = "test", .caller_may_run = caller_may_run});
    std::thread::id where;
    bool ran = false;
    ASSERT_TRUE(thread->call([] {}));
    ASSERT_EQ(thread->submit_retained([&ran, w = std::make_unique<Witness>(&where)] { ran = true; }),
              ErrorCode::none);
    ASSERT_TRUE(thread->call([] {}));
    EXPECT_TRUE(ran);
    // A runner that went idle in between may have been first; it is destroyed either way.
    EXPECT_NE(where, std::thread::id());
  }
}

TEST(DeviceThread, TheCallerDestroysRetainedTasksAsItsLaneComesRound) {
  auto thread = make();
  std::atomic<int> by_caller{0};
  struct Counter {
    std::atomic<int>* count;
    std::thread::id caller;
    ~Counter() {
      if (std::this_thread::get_id() == caller) count->fetch_add(1);
    }
  };
  for (int i = 0; i < 20000; ++i) {
    auto counter = std::make_unique<Counter>(Counter{&by_caller, std::this_thread::get_id()});
    ASSERT_EQ(thread->submit_retained([kept = std::move(counter)] {}), ErrorCode::none);
  }
  EXPECT_GT(by_caller.load(), 0);
}

TEST(DeviceThread, AnIdleRunnerDestroysWhatAQuietCallerRetained) {
  std::counting_semaphore<> idle(0);
  auto thread = make({.name = "test", .on_idle = [&] { idle.release(); }});
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = token;
  ASSERT_EQ(thread->submit_retained([token = std::move(token)] {}), ErrorCode::none);
  while (!watched.expired()) idle.acquire();
}

TEST(DeviceThread, ABusyRunnerDestroysWhatAQuietCallerRetained) {
  auto thread = make();
  auto token = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = token;
  std::thread other([&] {
    while (!watched.expired()) EXPECT_EQ(thread->submit([] {}), ErrorCode::none);
  });
  ASSERT_EQ(thread->submit_retained([token = std::move(token)] {}), ErrorCode::none);
  other.join();
}

TEST(DeviceThread, RetainedTasksAreDestroyedWhenTheirCallerEnds) {
  auto thread = make();
  auto token = std::make_shared<int>(1);
  std::thread([&] { EXPECT_EQ(thread->submit_retained([token] {}), ErrorCode::none); }).join();
  EXPECT_TRUE(thread->shutdown());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(DeviceThread, RetainedTasksAreDestroyedByShutdown) {
  auto thread = make();
  auto token = std::make_shared<int>(1);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(thread->submit_retained([token] {}), ErrorCode::none);
  EXPECT_TRUE(thread->shutdown());
  EXPECT_EQ(token.use_count(), 1);
}

TEST(DeviceThread, OneThreadMayUseManyDevices) {
  std::vector<std::unique_ptr<DeviceThread>> threads;
  for (int i = 0; i < 12; ++i) threads.push_back(make());
  std::vector<int> counts(threads.size());
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      ASSERT_EQ(threads[i]->submit([&count = counts[i]] { ++count; }), ErrorCode::none);
    }
  }
  for (auto& thread : threads) ASSERT_TRUE(thread->call([] {}));
  EXPECT_THAT(counts, testing::Each(100));
}

TEST(DeviceThread, ACallerOutlivesADevice) {
  for (int i = 0; i < 20; ++i) {
    auto thread = make();
    ASSERT_EQ(thread->submit([] {}), ErrorCode::none);
  }
  EXPECT_EQ(make()->call([] { return 1; }).value(), 1);
}

TEST(DeviceThread, AThreadMayUseADeviceWhileItsThreadLocalsAreDestroyed) {
  static std::atomic<int> answer{0};
  struct AtThreadExit {
    DeviceThread* thread = nullptr;
    ~AtThreadExit() {
      EXPECT_EQ(thread->submit_retained([token = std::make_shared<int>(0)] {}), ErrorCode::none);
      answer.store(thread->call([] { return 5; }).value());
    }
  };
  auto thread = make();
  std::thread([&] {
    thread_local AtThreadExit last;  // made before the lane, so destroyed after it
    last.thread = thread.get();
    EXPECT_TRUE(thread->call([] {}));
  }).join();
  EXPECT_EQ(answer.load(), 5);
}

TEST(DeviceThread, ACallerRunsItsCallWhileTheRunnerIsParked) {
  std::counting_semaphore<> idle(0);
  auto thread = make({.name = "test", .caller_may_run = true, .on_idle = [&] { idle.release(); }});
  const auto here = std::this_thread::get_id();
  while (thread->call([] { return std::this_thread::get_id(); }).value() != here) std::this_thread::yield();

  // What is pushed while a caller has the runner's place is not forgotten.
  std::binary_semaphore ran(0);
  while (true) {
    const bool borrowed =
        thread
            ->call([&] {
              if (std::this_thread::get_id() != here) return false;
              std::thread([&] { EXPECT_EQ(thread->submit([&] { ran.release(); }), ErrorCode::none); }).join();
              return true;
            })
            .value();
    if (borrowed) break;
  }
  ran.acquire();
}

TEST(DeviceThread, ACallerNeverRunsItsCallUnlessAllowed) {
  std::counting_semaphore<> idle(0);
  auto thread = make({.name = "test", .on_idle = [&] { idle.release(); }});
  for (int i = 0; i < 20; ++i) {
    wait_until_idle(*thread, idle);
    EXPECT_NE(thread->call([] { return std::this_thread::get_id(); }).value(), std::this_thread::get_id());
  }
}

TEST(DeviceThread, ATaskUsesItsOwnDeviceAtOnceAndInOrder) {
  for (const bool caller_may_run : {false, true}) {
    auto thread = make({.name = "test", .caller_may_run = caller_may_run});
    for (int i = 0; i < 100; ++i) {
      std::vector<int> order;
      const Result<int> answer = thread->call([&] {
        EXPECT_TRUE(thread->is_current());
        order.push_back(1);
        EXPECT_EQ(thread->submit([&] { order.push_back(2); }), ErrorCode::none);
        const Result<int> inner = thread->call([&] { return order.push_back(3), 9; });
        order.push_back(4);
        return inner.value();
      });
      EXPECT_EQ(answer.value(), 9);
      EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
      std::this_thread::yield();
    }
    EXPECT_FALSE(thread->is_current());
  }
}

TEST(DeviceThread, InsideAServerCallItsOwnDeviceIsRefused) {
  auto thread = make();
  auto other = make();
  const Result<ErrorCode> answer = thread->call([&] {
    {
      const ServerCallScope inside;
      EXPECT_EQ(thread->submit([] { ADD_FAILURE(); }), ErrorCode::re_entered);
      const auto refused = thread->call([] { ADD_FAILURE(); });
      EXPECT_EQ(other->call([] { return 3; }).value(), 3) << "another device is no re-entry";
      return refused ? ErrorCode::none : refused.error().code();
    }
  });
  EXPECT_EQ(answer.value(), ErrorCode::re_entered);
  EXPECT_EQ(thread->call([&] { return thread->submit([] {}); }).value(), ErrorCode::none);
}

TEST(DeviceThread, ShutdownRunsWhatWasHandedOverAndRefusesTheRest) {
  auto thread = make();
  int ran = 0;
  for (int i = 0; i < 500; ++i) ASSERT_EQ(thread->submit([&] { ++ran; }), ErrorCode::none);
  EXPECT_TRUE(thread->shutdown());
  EXPECT_EQ(ran, 500);
  EXPECT_EQ(thread->submit([] { ADD_FAILURE(); }), ErrorCode::disconnected);
  const auto refused = thread->call([] { ADD_FAILURE(); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::disconnected);
  EXPECT_TRUE(thread->shutdown()) << "again is fine";
}

TEST(DeviceThread, ShutdownGivesUpOnATaskThatDoesNotReturnAndTellsWhoeverWaitsBehindIt) {
  std::binary_semaphore inside(0);
  std::binary_semaphore gate(0);
  auto thread = make();
  Result<int> in_progress = 0;
  std::thread caller_inside([&] {
    in_progress = thread->call([&] {
      inside.release();
      gate.acquire();
      return 4;
    });
  });
  inside.acquire();
  std::atomic<int> waiting{0};
  Result<void> behind;
  std::thread caller_behind([&] {
    waiting.fetch_add(1);
    behind = thread->call([] { ADD_FAILURE(); });
  });
  std::thread caller_full([&] {
    waiting.fetch_add(1);
    while (thread->submit([] { ADD_FAILURE(); }) == ErrorCode::none) {
    }
  });
  while (waiting.load() != 2) std::this_thread::yield();
  const Result<void> given_up = thread->shutdown(milliseconds(20));
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code(), ErrorCode::busy);
  caller_behind.join();
  caller_full.join();
  ASSERT_FALSE(behind);
  EXPECT_THAT(behind.error().code(), testing::AnyOf(ErrorCode::torn_down, ErrorCode::disconnected));
  EXPECT_FALSE(thread->shutdown()) << "the outcome is remembered";

  gate.release();  // the caller of the task itself gets its answer, late
  caller_inside.join();
  EXPECT_EQ(in_progress.value(), 4);
}

TEST(DeviceThread, ATaskMayShutDownItsOwnDevice) {
  std::binary_semaphore destroyed(0);
  struct Owner {
    std::binary_semaphore* gone;
    ~Owner() { gone->release(); }
  };
  auto thread = DeviceThread::create({.name = "test"}, [&]() -> Result<std::unique_ptr<Owner>> {
                  return std::unique_ptr<Owner>(new Owner{&destroyed});
                }).value();
  DeviceThread* raw = thread.release();
  std::binary_semaphore submitted(0);  // the destructor comes after the last call
  ASSERT_EQ(raw->submit([raw, &submitted] {
    submitted.acquire();
    delete raw;
  }),
            ErrorCode::none);
  submitted.release();
  destroyed.acquire();
}

TEST(DeviceThread, ManyCallersShareOne) {
  auto thread = make({.name = "test", .caller_may_run = true});
  std::uint64_t sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 16; ++caller) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(thread->submit([&] { ++sum; }), ErrorCode::none);
        EXPECT_TRUE(thread->call([&] { ++sum; }));
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(thread->call([&] { return sum; }).value(), 16U * 200U * 2U);
}

TEST(DeviceThread, WorksWithoutAProcessBarrier) {
  auto thread = make({.name = "test", .caller_may_run = true, .use_process_barrier = false});
  int ran = 0;
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(thread->submit([&] { ++ran; }), ErrorCode::none);
  EXPECT_EQ(thread->call([&] { return ran; }).value(), 5000);
}

}  // namespace
}  // namespace backplane
