#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "device_thread/cpu.h"

namespace backplane::detail {

class Runner;

enum class RecordAction : std::uint8_t { run, run_and_destroy, destroy };

/// What stands before each callable in a lane.
struct alignas(16) RecordHeader {
  using Handler = void (*)(RecordAction action, void* payload, Runner* runner) noexcept;

  Handler handle;          // `runner` is null unless it runs
  std::uint16_t size;      // bytes to the next record
  std::uint16_t retained;  // 1: the runner only runs it, whoever reclaims the slot destroys it
  std::uint32_t turn;      // orders it among the records of other lanes; see `Runner::turn_of`
};
static_assert(sizeof(RecordHeader) == 16);

/// A bounded ring of variable-length records from one calling thread to one runner, and the place where that
/// thread leaves its blocking call. The calling thread uses the first group of methods, the runner the
/// second; the third is for either, and for the thread that shuts down.
class Lane {
 public:
  static constexpr std::size_t kCapacity = std::size_t{64} * 1024;  // bytes, a power of two
  static constexpr std::size_t kLargestRecord = kCapacity / 8;      // bytes, with the header
  static constexpr std::size_t kQuantum = kCapacity / 4;  // bytes between looks at what the other side did

  /// Runs a call: `task` is what the caller posted, `answer` room for `kAnswerBytes` that the caller reads
  /// afterwards.
  using CallHandler = void (*)(void* task, void* answer) noexcept;
  static constexpr std::size_t kCallBytes = 40;
  static constexpr std::size_t kAnswerBytes = 56;

  /// `number` tells the lanes of one runner apart; not 0.
  explicit Lane(std::uint32_t number);
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

  // The calling thread.

  /// Room for a record of `size` bytes, a multiple of 16, or null if `refill` must look for it first.
  [[nodiscard]] RecordHeader* try_reserve(std::size_t size) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (size > limit_ - tail) return nullptr;
    return at(tail);
  }

  /// Reclaims what was run and moves to the start of the ring if `size` does not fit before its end. False
  /// while there is no room.
  [[nodiscard]] bool refill(std::size_t size) noexcept;

  /// Whether the runner has left room for `size` bytes, reclaimed or not.
  [[nodiscard]] bool has_room(std::size_t size) const noexcept;

  /// Hands over the record at the tail, whose header says the same. `ordered`: as a sequentially consistent
  /// operation.
  BACKPLANE_ALWAYS_INLINE void publish(std::size_t size, bool retained, std::uint32_t turn,
                                       bool ordered) noexcept {
    last_turn_ = turn;
    if (retained) retained_.store(retained_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    store(tail_, tail_.load(std::memory_order_relaxed) + size, ordered);
  }

  /// Takes back and destroys the newest record, which the runner must never have seen.
  void withdraw(std::uint64_t start) noexcept;

  /// Where the task of a call is put before it is posted. Aligned for pointers.
  [[nodiscard]] void* call_task() noexcept { return call_task_.data(); }

  /// Leaves a call behind every record published so far; one at a time.
  void post_call(CallHandler handler, std::uint32_t turn, bool ordered) noexcept {
    call_handler_ = handler;
    call_turn_ = turn;
    store(posted_, next_call(posted_.load(std::memory_order_relaxed)), ordered);
  }
  [[nodiscard]] bool call_finished() const noexcept {
    return response_.load(std::memory_order_acquire) / kResponseFlags ==
           posted_.load(std::memory_order_relaxed);
  }
  void sleep_until_call_finished() noexcept;
  /// Whether the call ran; false if it was torn down. Requires `call_finished()`.
  [[nodiscard]] bool call_ran() const noexcept {
    return (response_.load(std::memory_order_relaxed) & kTornDown) == 0;
  }
  /// The call's answer, if it was put here. Requires that the call ran.
  [[nodiscard]] void* call_answer() noexcept { return answer_.data(); }
  /// Whether the runner has begun the posted call.
  [[nodiscard]] bool call_begun() const noexcept {
    return begun_.load(std::memory_order_seq_cst) == posted_.load(std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t tail() const noexcept { return tail_.load(std::memory_order_relaxed); }

  // The runner.

  [[nodiscard]] bool has_work() const noexcept {
    return tail_.load(std::memory_order_seq_cst) != read_ || call_waiting();
  }
  [[nodiscard]] bool call_waiting() const noexcept {
    return posted_.load(std::memory_order_seq_cst) != begun_.load(std::memory_order_relaxed);
  }

  /// Reads how far the calling thread has come. What was seen the time before is then settled: whatever
  /// another thread gave before it is there to be seen now.
  void look() noexcept {
    settled_ = seen_;
    // The call first: whoever posted it has published its records before, so a waiting call means the tail is
    // final.
    seen_.call = call_waiting();
    seen_.tail = tail_.load(std::memory_order_acquire);
  }
  /// Declares everything seen settled, where the order among lanes needs no second look.
  void settle() noexcept { settled_ = seen_; }

  /// Whether something was seen and has not run.
  [[nodiscard]] bool pending() const noexcept { return read_ != seen_.tail || seen_.call; }
  /// The turn of the first such thing. Requires `pending()`.
  [[nodiscard]] std::uint32_t next_turn() const noexcept {
    return read_ != seen_.tail ? at(read_)->turn : call_turn_;
  }
  /// Whether it is settled. Requires `pending()`.
  [[nodiscard]] bool next_is_settled() const noexcept { return read_ != settled_.tail || settled_.call; }

  /// Runs settled records, at most about `limit` bytes of them and none of a later turn than `last_turn`,
  /// then a settled call. Stops early when the runner is abandoned. What it ran.
  struct Drained {
    std::uint32_t records = 0;
    bool call = false;
    [[nodiscard]] bool any() const noexcept { return records != 0 || call; }
  };
  Drained drain(Runner& runner, std::size_t limit, std::uint32_t last_turn, bool looked_just_now);

  /// Whether turn `a` comes after turn `b`; they are never half the range apart.
  [[nodiscard]] static bool is_later(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) > 0;
  }

  /// Nothing published after this is run.
  void close() noexcept;

  [[nodiscard]] bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }
  [[nodiscard]] bool drained() const noexcept { return tail_.load(std::memory_order_acquire) == read_; }
  /// Whether the calling thread submitted nothing since this was last asked.
  [[nodiscard]] bool quiet() noexcept;

  // Either side.

  /// Destroys retained callables that were run. `wait`: also if the other side is at it; it then waits for
  /// that.
  void reclaim(bool wait) noexcept;
  [[nodiscard]] bool retains() const noexcept {
    // Acquire: whoever finds them destroyed by the other side may rely on what their destructors did.
    return retained_.load(std::memory_order_relaxed) != destroyed_.load(std::memory_order_acquire);
  }

  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Where the runner stopped. Requires `closed()`.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }

  /// The calling thread is gone: the runner runs what is left and lets go of the lane.
  void retire() noexcept { retired_.store(true, std::memory_order_release); }

  /// Tells the caller of a call that was not begun that it will not be. Requires an abandoned runner.
  void tear_down_call() noexcept;

  /// Sleeps until the runner has made room or `wake_producer` was called, unless `give_up()`.
  template <class GiveUp>
  void sleep_until_room(std::size_t size, GiveUp give_up) noexcept {
    room_wanted_.store(1, std::memory_order_seq_cst);
    if (!has_room(size) && !give_up()) wait_for_room();
  }
  void wake_producer() noexcept;

  void acquire_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  static void release_reference(Lane* lane) noexcept;

 private:
  static constexpr std::uint64_t kMask = kCapacity - 1;
  // What a response has beside the number of the call.
  static constexpr std::uint32_t kCallerSleeps = 1;
  static constexpr std::uint32_t kTornDown = 2;
  static constexpr std::uint32_t kResponseFlags = 4;

  struct FreeRing {
    void operator()(std::byte* ring) const noexcept {
      ::operator delete[](ring, std::align_val_t{kCacheLine});
    }
  };

  template <class T>
  static void store(std::atomic<T>& word, T value, bool ordered) noexcept {
    if (ordered) {
      word.exchange(value, std::memory_order_seq_cst);
    } else {
      word.store(value, std::memory_order_release);
    }
  }

  [[nodiscard]] RecordHeader* at(std::uint64_t position) const noexcept {
    return reinterpret_cast<RecordHeader*>(ring_.get() + (position & kMask));
  }
  [[nodiscard]] static std::uint32_t next_call(std::uint32_t call) noexcept {
    return (call + 1) % (UINT32_MAX / kResponseFlags);
  }
  void answer_call(std::uint32_t response) noexcept;
  void wait_for_room() noexcept;
  bool run_call(Runner& runner) noexcept;

  // Written by the calling thread, polled by the runner: one transfer brings everything that a small call
  // needs.
  alignas(kCacheLine) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint32_t> posted_{0};  // number of the newest call
  std::atomic<bool> retired_{false};
  std::uint32_t call_turn_ = 0;
  CallHandler call_handler_ = nullptr;
  alignas(void*) std::array<std::byte, kCallBytes> call_task_{};

  // Written by the runner when it has run a call, polled by the caller: likewise for the answer.
  alignas(kCacheLine) std::atomic<std::uint32_t> response_{0};
  alignas(void*) std::array<std::byte, kAnswerBytes> answer_{};

  // The calling thread's own.
  alignas(kCacheLine) std::uint64_t limit_ = 0;  // it may write up to here: never past the end of the ring
  std::uint32_t last_turn_ = 0;
  const std::uint32_t number_;
  std::unique_ptr<std::byte[], FreeRing> ring_;
  std::atomic<std::uint64_t> retained_{0};  // how many retained records were ever published

  // Written by the runner.
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
  std::uint64_t read_ = 0;
  struct View {
    std::uint64_t tail = 0;
    bool call = false;
  };
  View seen_;     // at the last look
  View settled_;  // at the one before
  std::uint64_t quiet_tail_ = 0;
  std::uint64_t end_ = 0;
  std::atomic<std::uint32_t> begun_{0};  // number of the newest call it took on
  std::atomic<bool> closed_{false};

  // Seldom written, by either.
  alignas(kCacheLine) std::atomic<bool> reclaiming_{false};  // who holds it moves the next two
  std::atomic<std::uint64_t> reclaimed_{0};
  std::atomic<std::uint64_t> destroyed_{0};
  std::atomic<std::uint32_t> room_wanted_{0};
  std::atomic<std::uint32_t> references_{1};
};

}  // namespace backplane::detail
