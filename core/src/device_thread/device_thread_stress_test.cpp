#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device_thread/device_thread.h"

// Random programs of several callers against one device thread, built with a copy of its sources that pauses
// wherever the order of two threads matters. A lost wake-up shows as a hang, which the test's time limit
// ends.

namespace backplane::detail {

void perturb() noexcept {
  thread_local std::minstd_rand random(
      static_cast<unsigned>(std::hash<std::thread::id>{}(std::this_thread::get_id())));
  const auto choice = random() % 64;
  if (choice < 4) std::this_thread::yield();
  if (choice == 4) {
    for (auto pauses = random() % 512; pauses > 0; --pauses) cpu_pause();
  }
}

}  // namespace backplane::detail

namespace backplane {
namespace {

constexpr int kOperations = 250;

/// What the tasks of one caller left behind. Written by tasks alone, one at a time.
struct CallerLog {
  std::vector<int> ran;
};

/// The state that tasks share without synchronisation, as a server would.
struct World {
  int inside = 0;  // more than one task at a time would be seen here, and by the thread sanitizer
  std::vector<CallerLog> logs;
  std::atomic<int> live{0};
  std::atomic<int> overlaps{0};
};

/// Part of every task: counts those that exist.
class Token {
 public:
  explicit Token(World& world) : world_(&world) { world_->live.fetch_add(1); }
  Token(const Token& other) : Token(*other.world_) {}
  Token(Token&& other) noexcept : Token(*other.world_) {}
  Token& operator=(const Token&) = delete;
  Token& operator=(Token&&) = delete;
  ~Token() { world_->live.fetch_sub(1); }

 private:
  World* world_;
};

template <std::size_t kPadding>
struct Task {
  World* world;
  std::size_t caller;
  int number;
  Token token;
  std::array<char, kPadding> padding{};

  int operator()() const {
    if (world->inside++ != 0) world->overlaps.fetch_add(1);
    world->logs[caller].ran.push_back(number);
    detail::perturb();
    --world->inside;
    return number * 3;
  }
};

/// One caller: performs random operations, and notes which were accepted.
class Caller {
 public:
  Caller(DeviceThread& thread, World& world, std::size_t index, unsigned seed)
      : thread_(thread), world_(world), index_(index), random_(seed) {}

  void run() {
    for (int i = 0; i < kOperations && !refused_; ++i) step();
  }

  [[nodiscard]] const std::vector<int>& accepted() const { return accepted_; }
  [[nodiscard]] bool answers_right() const { return answers_right_; }

 private:
  template <std::size_t kPadding>
  Task<kPadding> task() {
    return {&world_, index_, next_++, Token(world_)};
  }

  void note(int number, ErrorCode answer) {
    if (answer == ErrorCode::none) {
      accepted_.push_back(number);
    } else {
      answers_right_ = answers_right_ && answer == ErrorCode::disconnected;
      refused_ = true;
    }
  }

  template <std::size_t kPadding>
  void submit() {
    const int number = next_;
    note(number,
         random_() % 2 == 0 ? thread_.submit(task<kPadding>()) : thread_.submit_retained(task<kPadding>()));
  }

  void call() {
    const int number = next_;
    Task<1> work = task<1>();
    Result<int> answer = thread_.call(work);
    note(number, answer ? ErrorCode::none : answer.error().code());
    if (answer) answers_right_ = answers_right_ && *answer == number * 3;
  }

  /// Nothing else this caller does may help the task to start.
  void submit_and_wait() {
    const int number = next_;
    std::atomic<bool> ran{false};
    note(number, thread_.submit([work = task<1>(), &ran] {
      work();
      ran.store(true);
    }));
    while (!refused_ && !ran.load()) std::this_thread::yield();
  }

  void nested() {
    const int outer = next_;
    Task<1> first = task<1>();
    Task<1> second = task<1>();
    auto third = task<16>();
    Result<int> answer = thread_.call([&] {
      first();
      const ErrorCode submitted = thread_.submit(third);  // runs here, before what follows
      Result<int> inner = thread_.call(second);
      return submitted == ErrorCode::none && inner ? *inner : -1;
    });
    note(outer, answer ? ErrorCode::none : answer.error().code());
    if (!answer) return;
    accepted_.push_back(outer + 2);
    accepted_.push_back(outer + 1);
    answers_right_ = answers_right_ && *answer == (outer + 1) * 3;
  }

  void step() {
    switch (random_() % 12) {
      case 0:
        return submit<7000>();
      case 1:
        return submit<20000>();  // boxed
      case 2:
        for (int i = 0; i < 20 && !refused_; ++i) submit<4000>();  // more than a lane holds
        return;
      case 3:
      case 4:
        return call();
      case 5:
        return nested();
      case 6:
        for (auto pauses = random_() % 2000; pauses > 0; --pauses)
          detail::cpu_pause();  // may let the runner park
        return;
      case 7:
        return submit_and_wait();
      case 8:
        return submit<200>();
      default:
        return submit<8>();
    }
  }

  DeviceThread& thread_;
  World& world_;
  std::size_t index_;
  std::minstd_rand random_;
  int next_ = 0;
  bool refused_ = false;
  bool answers_right_ = true;
  std::vector<int> accepted_;
};

std::string first_difference(const std::vector<int>& ran, const std::vector<int>& accepted) {
  const auto [a, b] = std::mismatch(ran.begin(), ran.end(), accepted.begin(), accepted.end());
  return "ran " + std::to_string(ran.size()) + ", accepted " + std::to_string(accepted.size()) + ", first " +
         (a == ran.end() ? "none" : std::to_string(*a)) + " against " +
         (b == accepted.end() ? "none" : std::to_string(*b));
}

void run_program(unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::minstd_rand random(seed);
  World world;
  const std::size_t callers = 1 + random() % 4;
  const bool shut_down_early = random() % 2 == 0;
  world.logs.resize(callers);
  auto thread = DeviceThread::create(
      {.name = "stress", .caller_may_run = random() % 2 == 0, .use_process_barrier = random() % 3 != 0},
      [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(0)); });
  ASSERT_TRUE(thread);
  std::vector<Caller> programs;
  for (std::size_t i = 0; i < callers; ++i) {
    programs.emplace_back(**thread, world, i, static_cast<unsigned>(random()));
  }
  std::vector<std::thread> threads;
  for (Caller& program : programs) threads.emplace_back([&program] { program.run(); });
  if (shut_down_early) {
    for (auto pauses = random() % 40000; pauses > 0; --pauses) detail::cpu_pause();
    EXPECT_TRUE((*thread)->shutdown());
  }
  for (std::thread& caller : threads) caller.join();
  EXPECT_TRUE((*thread)->shutdown());

  EXPECT_EQ(world.overlaps.load(), 0);
  for (std::size_t i = 0; i < callers; ++i) {
    EXPECT_TRUE(programs[i].answers_right());
    EXPECT_EQ(world.logs[i].ran, programs[i].accepted())
        << "caller " << i << ": " << first_difference(world.logs[i].ran, programs[i].accepted());
  }
  EXPECT_EQ(world.live.load(), 0) << "every task is destroyed, those that were refused too";
}

unsigned seeds() {
  const char* text = std::getenv("BACKPLANE_STRESS_SEEDS");
  return text == nullptr ? 100U : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

TEST(DeviceThreadStress, RunsEachTaskOnceInTheOrderOfItsCallerWhateverTheInterleaving) {
  for (unsigned seed = 1; seed <= seeds() && !HasFailure(); ++seed) run_program(seed);
}

}  // namespace
}  // namespace backplane
