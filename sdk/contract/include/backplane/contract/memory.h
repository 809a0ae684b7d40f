#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace backplane {

class DroppedAllocations;

/// One allocation as the client and the server both know it: a reference count, a label for messages, and a
/// slot the server keeps its own bookkeeping under. Made by the client, which hands the first reference to
/// the application; the server learns of it through `IServer::initialize_memory` and holds no reference.
/// References may be taken and dropped by any thread.
class Allocation {
 public:
  Allocation(std::uint64_t size, std::string label, std::shared_ptr<DroppedAllocations> dropped)
      : size_(size), label_(std::move(label)), dropped_(std::move(dropped)) {}

  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  /// Size asked for, in bytes. May be 0.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// The application's name for it; empty if it gave none.
  [[nodiscard]] const std::string& label() const noexcept { return label_; }

  /// Whether its last reference falls into `dropped`, which is to say: whether it belongs to that server.
  [[nodiscard]] bool belongs_to(const DroppedAllocations& dropped) const noexcept {
    return dropped_.get() == &dropped;
  }

  /// The server's own bookkeeping, 0 until `initialize_memory`. Touched on the server's thread alone.
  std::uint64_t server_slot = 0;

 private:
  friend class DroppedAllocations;
  friend class ManagedMemory;

  std::atomic<std::uint32_t> references_{1};
  std::uint64_t size_;
  std::string label_;
  std::shared_ptr<DroppedAllocations> dropped_;
  Allocation* next_ = nullptr;
  void (*destroy_)(Allocation*) noexcept = [](Allocation* self) noexcept { delete self; };
};

/// Where allocations wait after their last reference is gone, until the server notices: it takes them all at
/// its next reserve or cleanup. Dropping never calls the server and never blocks. `push` may be called by any
/// thread.
class DroppedAllocations {
 public:
  DroppedAllocations() = default;
  DroppedAllocations(const DroppedAllocations&) = delete;
  DroppedAllocations& operator=(const DroppedAllocations&) = delete;
  ~DroppedAllocations() {
    for (Allocation* allocation = take_all(); allocation != nullptr;) {
      destroy(std::exchange(allocation, next(allocation)));
    }
  }

  /// Whether `take_all` would return something; a hint, from any thread.
  [[nodiscard]] bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

  /// Takes the list of everything dropped so far; walk it with `next`, give each one to `destroy`.
  [[nodiscard]] Allocation* take_all() noexcept { return head_.exchange(nullptr, std::memory_order_acquire); }

  [[nodiscard]] static Allocation* next(const Allocation* allocation) noexcept { return allocation->next_; }

  /// Frees the block itself, with the code of the module that made it.
  static void destroy(Allocation* allocation) noexcept { allocation->destroy_(allocation); }

 private:
  friend class ManagedMemory;

  void push(Allocation* allocation) noexcept {
    allocation->next_ = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(allocation->next_, allocation, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }

  std::atomic<Allocation*> head_{nullptr};
};

/// A reference to an allocation, or to none. The last one dropped leaves the allocation to
/// `DroppedAllocations`. Copies may be taken and dropped by any thread; one object is for one thread at a
/// time.
class ManagedMemory {
 public:
  ManagedMemory() noexcept = default;

  /// A new allocation of `size` bytes that no server knows yet. Throws `std::bad_alloc`.
  static ManagedMemory create(std::uint64_t size, std::string label,
                              std::shared_ptr<DroppedAllocations> dropped) {
    return ManagedMemory(new Allocation(size, std::move(label), std::move(dropped)));
  }

  /// Another reference to an allocation that is known to be alive.
  static ManagedMemory retain(Allocation* allocation) noexcept {
    allocation->references_.fetch_add(1, std::memory_order_relaxed);
    return ManagedMemory(allocation);
  }

  ManagedMemory(const ManagedMemory& other) noexcept : allocation_(other.allocation_) {
    if (allocation_ != nullptr) allocation_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  ManagedMemory(ManagedMemory&& other) noexcept : allocation_(std::exchange(other.allocation_, nullptr)) {}
  ManagedMemory& operator=(ManagedMemory other) noexcept {
    std::swap(allocation_, other.allocation_);
    return *this;
  }
  ~ManagedMemory() {
    if (allocation_ == nullptr || allocation_->references_.fetch_sub(1, std::memory_order_acq_rel) != 1)
      return;
    // The list owns the allocation from here on, so it must not be kept alive by it.
    const std::shared_ptr<DroppedAllocations> dropped = std::move(allocation_->dropped_);
    dropped->push(allocation_);
  }

  [[nodiscard]] Allocation* get() const noexcept { return allocation_; }
  Allocation* operator->() const noexcept { return allocation_; }
  explicit operator bool() const noexcept { return allocation_ != nullptr; }

 private:
  explicit ManagedMemory(Allocation* allocation) noexcept : allocation_(allocation) {}

  Allocation* allocation_ = nullptr;
};

/// A range of an allocation, borrowed for the call it is passed to. Whoever keeps one past the call takes a
/// `ManagedMemory` too.
struct BufferBinding {
  Allocation* allocation;  ///< Never null.
  std::uint64_t offset;    ///< First byte, in bytes from the start of the allocation.
  std::uint64_t size;      ///< Length in bytes; may be 0.
};

/// How new allocations of a stream are placed.
enum class MemoryAllocationMode : std::uint8_t {
  automatic = 0,   ///< In the pools, by size.
  persistent = 1,  ///< Exactly their size, kept for reuse by allocations of that size: model weights, say.
};

/// Memory of one stream, in bytes.
struct MemoryUsage {
  std::uint64_t allocation_count = 0;  ///< Live allocations.
  std::uint64_t bytes_in_use = 0;      ///< What they asked for.
  std::uint64_t bytes_padding = 0;     ///< What alignment and placement added.
  std::uint64_t bytes_reserved = 0;    ///< What the driver gave, used or not.
};

/// What kind of pool a report or a layout speaks of. Unknown values are shown by number.
enum class MemoryPoolKind : std::uint8_t {
  exclusive = 0,   ///< One allocation a page.
  sliced = 1,      ///< Many allocations a page, of any size up to a limit.
  direct = 2,      ///< One driver allocation a reservation, given back when freed under pressure.
  persistent = 3,  ///< Exact sizes, kept.
  adaptive = 4,    ///< Pages whose size follows the workload's largest allocation.
  auxiliary = 5,   ///< The server's own needs: staging, launch metadata.
};

/// One pool of a stream.
struct MemoryPoolReport {
  std::string name;                       ///< As the server names it.
  MemoryPoolKind kind{};                  ///< Its shape.
  std::uint64_t page_size = 0;            ///< Bytes of a page; 0 where pages differ.
  std::uint64_t capacity = 0;             ///< Most bytes it may reserve; 0 for no cap.
  MemoryUsage usage;                      ///< Now.
  std::uint64_t peak_bytes_in_use = 0;    ///< High-water mark since the pool was made.
  std::uint64_t peak_bytes_reserved = 0;  ///< Likewise.
};

/// The pools of a stream in the order in which a request is offered to them, auxiliary pools last.
struct MemoryReport {
  std::vector<MemoryPoolReport> pools;
};

/// One pool to install.
struct MemoryPoolOptions {
  MemoryPoolKind kind{};              ///< Not `auxiliary`.
  std::uint64_t page_size = 0;        ///< Bytes; 0 lets the server choose.
  std::uint64_t largest_request = 0;  ///< Largest allocation it serves, in bytes; 0 for a whole page.
  std::uint64_t capacity = 0;         ///< Most bytes it may reserve; 0 for no cap.
  std::uint64_t idle_cleanups = 0;    ///< Cleanups a free page survives; 0 keeps it until memory is short.
};

/// Ready-made layouts.
enum class MemoryPreset : std::uint8_t {
  adaptive = 0,         ///< The default.
  sub_slices = 1,       ///< Sliced pages of a few fixed sizes.
  exclusive_pages = 2,  ///< A page an allocation.
  custom = 3,           ///< The pools that are listed.
};

/// A memory layout. `pools` is read for `custom` alone, in routing order, and then must not be empty.
struct MemoryConfiguration {
  MemoryPreset preset = MemoryPreset::adaptive;
  std::vector<MemoryPoolOptions> pools;
};

}  // namespace backplane
