#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <backplane/contract/id.h>

namespace backplane::toolkit {

/// A failure that left memory unwritten. Unique within a server, never reused; 0 is none.
using FailureId = Id<struct FailureTag>;

/// What a write set is claimed with while the work on it has been entered and not left. No failure stands
/// behind it.
inline constexpr FailureId kProvisionalFailure{~std::uint64_t{0}};

/// Which bytes of one allocation were left unwritten, and by which failure: disjoint ranges in order,
/// adjacent ones of one failure fused. Nothing is allocated for a single range. One thread, the server's.
class Taint {
 public:
  struct Claim {
    std::uint64_t begin;  ///< First byte.
    std::uint64_t end;    ///< One past the last.
    FailureId failure;

    friend bool operator==(const Claim&, const Claim&) = default;
  };

  /// Whether nothing is claimed.
  [[nodiscard]] bool clean() const noexcept { return single_.begin == single_.end && several_.empty(); }

  /// Every claim, in order.
  [[nodiscard]] std::span<const Claim> claims() const noexcept {
    if (!several_.empty()) return several_;
    return {&single_, single_.begin == single_.end ? 0U : 1U};
  }

  /// The claims that share a byte with [begin, end), in order.
  [[nodiscard]] std::span<const Claim> overlapping(std::uint64_t begin, std::uint64_t end) const noexcept;

  /// Whether any byte is claimed by `failure`.
  [[nodiscard]] bool carries(FailureId failure) const noexcept;

  /// Claims [begin, end) for `failure`, in place of what was claimed there. Nothing happens for an empty
  /// range.
  void claim(std::uint64_t begin, std::uint64_t end, FailureId failure) {
    if (begin >= end) return;
    if (clean()) {
      single_ = {begin, end, failure};
    } else {
      replace(begin, end, failure);
    }
  }

  /// Lifts every claim from exactly [begin, end).
  void release(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end || clean()) return;
    if (several_.empty() && begin <= single_.begin && single_.end <= end) {
      single_ = {};
    } else {
      replace(begin, end, {});
    }
  }

 private:
  void replace(std::uint64_t begin, std::uint64_t end, FailureId failure);

  Claim single_{};
  std::vector<Claim> several_;  // holds everything once there are two, and is empty else
};

}  // namespace backplane::toolkit
