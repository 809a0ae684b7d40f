#include "worker_pool.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace backplane::cpu {
namespace {

void expect_each_once(WorkerPool& pool, std::uint64_t count, std::uint64_t chunk) {
  std::vector<std::atomic<int>> visits(count);
  pool.run(count, chunk, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t index = begin; index < end; ++index) {
      visits[index].fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (std::uint64_t index = 0; index < count; ++index) {
    ASSERT_EQ(visits[index].load(), 1) << "element " << index << " of " << count << " by " << chunk;
  }
}

TEST(WorkerPoolTest, VisitsEveryElementOnce) {
  WorkerPool pool(4);
  for (const std::uint64_t count : {1U, 2U, 3U, 63U, 64U, 65U, 1000U}) {
    for (const std::uint64_t chunk : {1U, 2U, 7U, 64U, 5000U}) {
      expect_each_once(pool, count, chunk);
    }
  }
}

TEST(WorkerPoolTest, ChunksAreNoLargerThanAskedFor) {
  WorkerPool pool(3);
  std::atomic<std::uint64_t> largest{0};
  pool.run(1000, 7, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t seen = largest.load();
    while (end - begin > seen && !largest.compare_exchange_weak(seen, end - begin)) {
    }
  });
  EXPECT_EQ(largest.load(), 7U);
}

TEST(WorkerPoolTest, NoWorkCallsNothing) {
  WorkerPool pool(2);
  bool was_called = false;
  pool.run(0, 16, [&](std::uint64_t, std::uint64_t) { was_called = true; });
  EXPECT_FALSE(was_called);
}

TEST(WorkerPoolTest, ChunkOfZeroCountsAsOne) {
  WorkerPool pool(2);
  expect_each_once(pool, 10, 0);
}

TEST(WorkerPoolTest, RangesNearTheEndOfTheTypeDoNotOverflow) {
  WorkerPool pool(2);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> total{0};
  pool.run(most, most / 2, [&](std::uint64_t begin, std::uint64_t end) { total.fetch_add(end - begin); });
  EXPECT_EQ(total.load(), most);
}

TEST(WorkerPoolTest, OneThreadWorksOnTheCallersThread) {
  WorkerPool pool(1);
  EXPECT_EQ(pool.size(), 1U);
  std::set<std::thread::id> threads;
  pool.run(100, 1, [&](std::uint64_t, std::uint64_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(WorkerPoolTest, ASingleChunkRunsOnTheCallersThread) {
  WorkerPool pool(4);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::thread::id thread;
    pool.run(64, 64, [&](std::uint64_t, std::uint64_t) { thread = std::this_thread::get_id(); });
    ASSERT_EQ(thread, std::this_thread::get_id());
  }
}

TEST(WorkerPoolTest, AsManyThreadsAsChunksWorkAtTheSameTime) {
  WorkerPool pool(4);
  std::atomic<int> arrived{0};
  // Each chunk waits for all the others, so the run ends only if every one has a thread of its own.
  pool.run(4, 1, [&](std::uint64_t, std::uint64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 4) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(arrived.load(), 4);
}

TEST(WorkerPoolTest, AnExceptionReachesTheCallerAndThePoolGoesOn) {
  WorkerPool pool(3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    try {
      pool.run(100, 1, [](std::uint64_t begin, std::uint64_t) {
        if (begin == 57) {
          throw std::runtime_error("chunk 57");
        }
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "chunk 57");
    }
    expect_each_once(pool, 100, 3);
  }
}

TEST(WorkerPoolTest, AnExceptionInASingleChunkReachesTheCaller) {
  WorkerPool pool(2);
  EXPECT_THROW(pool.run(1, 1, [](std::uint64_t, std::uint64_t) { throw std::logic_error("no"); }),
               std::logic_error);
  expect_each_once(pool, 10, 1);
}

TEST(WorkerPoolTest, RunsOfSeveralCallersDoNotMix) {
  WorkerPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (std::uint64_t caller = 1; caller <= 4; ++caller) {
    callers.emplace_back([&pool, &wrong, caller] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        std::atomic<std::uint64_t> total{0};
        pool.run(caller * 10, 3,
                 [&](std::uint64_t begin, std::uint64_t end) { total.fetch_add(end - begin); });
        wrong.fetch_add(total.load() == caller * 10 ? 0 : 1);
      }
    });
  }
  for (std::thread& each : callers) {
    each.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST(WorkerPoolTest, WhatAChunkWritesIsSeenAfterTheRun) {
  std::mt19937 random(std::random_device{}());
  WorkerPool pool(4);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    const std::uint64_t count = random() % 40;
    std::vector<std::uint64_t> values(count, 0);  // Not atomic: the thread sanitizer watches.
    pool.run(count, 1 + random() % 5, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t index = begin; index < end; ++index) {
        values[index] = index + 1;
      }
    });
    for (std::uint64_t index = 0; index < count; ++index) {
      ASSERT_EQ(values[index], index + 1);
    }
  }
}

TEST(WorkerPoolTest, PoolsComeAndGo) {
  for (std::size_t size = 1; size < 40; ++size) {
    WorkerPool pool(1 + size % 5);
    if (size % 2 == 0) {
      expect_each_once(pool, size, 1);
    }
  }
}

#if defined(__linux__)
TEST(WorkerPoolTest, TheAffinityMaskLimitsTheThreads) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const std::size_t found = WorkerPool::available_threads();
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(found, 1U);
}

TEST(WorkerPoolTest, WorkersAreNamed) {
  WorkerPool pool(3);
  std::mutex mutex;
  std::set<std::string> names;
  std::atomic<int> arrived{0};
  const std::thread::id caller = std::this_thread::get_id();
  pool.run(3, 1, [&](std::uint64_t, std::uint64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 3) {
      std::this_thread::yield();
    }
    if (std::this_thread::get_id() != caller) {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      const std::lock_guard<std::mutex> lock(mutex);
      names.insert(name);
    }
  });
  EXPECT_EQ(names, (std::set<std::string>{"bp-cpu-1", "bp-cpu-2"}));
}
#endif

}  // namespace
}  // namespace backplane::cpu
