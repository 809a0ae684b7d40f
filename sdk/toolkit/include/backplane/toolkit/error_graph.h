#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include <backplane/contract/error.h>
#include <backplane/toolkit/taint.h>

namespace backplane::toolkit {

/// The failures that memory of one server still carries, and which launches were skipped because of them. A
/// failure lives as long as an allocation carries it, so one left over means memory left over. One thread,
/// the server's.
class ErrorGraph {
 public:
  /// Number of an allocation within its server, never reused.
  using AllocationSerial = std::uint64_t;

  /// A launch that was not run because an input carried a failure.
  struct Skip {
    std::string kernel;                     ///< Its label.
    AllocationSerial needed;                ///< The input that carried the failure,
    std::string needed_label;               ///< and what the application calls it.
    std::vector<AllocationSerial> written;  ///< What inherited the failure.
  };

  /// How many skips of a failure are kept, the newest; all are counted.
  static constexpr std::size_t kKeptSkips = 16;

  /// Records a failure of `operation` (a kernel's label, "write"), carried by nothing yet. Whoever records
  /// one has an allocation carry it at once, or drops it with `release_unless_carried`.
  FailureId add(Error error, std::string operation);

  void retain(FailureId failure);
  void release(FailureId failure);
  void release_unless_carried(FailureId failure);

  /// Adds a skipped launch to the failure that caused it.
  void skip(FailureId failure, Skip skip);

  /// Why the bytes of an allocation that carry `failure` cannot be trusted: the failure itself where its own
  /// operation was to write them, else `skipped`, with every skipped kernel on the way and the failure as the
  /// cause.
  [[nodiscard]] Error report(FailureId failure, AllocationSerial allocation, const std::string& label) const;

  /// How many failures something carries.
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

  /// How many launches `failure` has kept from running.
  [[nodiscard]] std::uint64_t skip_count(FailureId failure) const;

 private:
  struct Node {
    Error error;
    std::string operation;
    std::uint64_t carriers = 0;
    std::uint64_t skip_count = 0;
    std::deque<Skip> skips;  // the newest last
  };

  std::unordered_map<FailureId, Node> nodes_;
  std::uint64_t last_id_ = 0;
};

}  // namespace backplane::toolkit
