#include "device_thread/thread_context.h"

#include <algorithm>
#include <vector>

#include "device_thread/fork.h"
#include "device_thread/lane.h"

namespace backplane::detail {

constinit thread_local BACKPLANE_FAST_TLS ThreadScope* innermost_scope = nullptr;
constinit thread_local BACKPLANE_FAST_TLS CachedLane cached_lanes[kCachedLanes]{};

namespace {

constinit thread_local bool lanes_gone = false;

/// The lanes of one thread, by runner. Used by that thread alone.
class ThreadLanes {
 public:
  ThreadLanes() = default;
  ThreadLanes(const ThreadLanes&) = delete;
  ThreadLanes& operator=(const ThreadLanes&) = delete;
  ~ThreadLanes() {
    lanes_gone = true;
    std::ranges::fill(cached_lanes, CachedLane{});
    // A child of fork has this thread and no runner; a lock of the lane may be held by a thread that is not
    // there.
    if (forked()) return;
    for (const CachedLane& entry : lanes_) let_go(entry.lane);
  }

  [[nodiscard]] Lane* find(std::uint64_t runner_id) const noexcept {
    const auto found = std::ranges::find(lanes_, runner_id, &CachedLane::runner_id);
    return found == lanes_.end() ? nullptr : found->lane;
  }

  void add(std::uint64_t runner_id, Lane* lane) {
    std::erase_if(lanes_, [](const CachedLane& entry) {
      if (!entry.lane->closed()) return false;
      CachedLane& slot = lane_cache_slot(entry.runner_id);
      if (slot.lane == entry.lane) slot = {};
      let_go(entry.lane);
      return true;
    });
    lanes_.push_back({.runner_id = runner_id, .lane = lane});
  }

 private:
  static void let_go(Lane* lane) noexcept {
    lane->reclaim(true);
    lane->retire();
    Lane::release_reference(lane);
  }

  std::vector<CachedLane> lanes_;
};

ThreadLanes& thread_lanes() {
  thread_local ThreadLanes lanes;
  return lanes;
}

}  // namespace

Lane* find_registered_lane(std::uint64_t runner_id) noexcept {
  return lanes_gone ? nullptr : thread_lanes().find(runner_id);
}

bool register_lane(std::uint64_t runner_id, Lane* lane) {
  if (lanes_gone) return false;
  thread_lanes().add(runner_id, lane);
  return true;
}

}  // namespace backplane::detail
