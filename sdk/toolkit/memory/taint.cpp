#include <algorithm>

#include <backplane/toolkit/taint.h>

namespace backplane::toolkit {
namespace {

/// Appends a claim, fused with the last where they touch and share a failure.
void append(std::vector<Taint::Claim>& claims, const Taint::Claim& claim) {
  if (claim.begin >= claim.end || claim.failure == FailureId{}) return;
  if (!claims.empty() && claims.back().end == claim.begin && claims.back().failure == claim.failure) {
    claims.back().end = claim.end;
  } else {
    claims.push_back(claim);
  }
}

}  // namespace

std::span<const Taint::Claim> Taint::overlapping(std::uint64_t begin, std::uint64_t end) const noexcept {
  const std::span<const Claim> all = claims();
  if (begin >= end) return {};
  const auto first = std::ranges::upper_bound(all, begin, {}, &Claim::end);
  const auto last = std::ranges::lower_bound(first, all.end(), end, {}, &Claim::begin);
  return {first, last};
}

bool Taint::carries(FailureId failure) const noexcept {
  return std::ranges::find(claims(), failure, &Claim::failure) != claims().end();
}

void Taint::replace(std::uint64_t begin, std::uint64_t end, FailureId failure) {
  std::vector<Claim> result;
  result.reserve(claims().size() + 2);
  const Claim made{begin, end, failure};
  bool inserted = false;
  for (const Claim& old : claims()) {
    append(result, {old.begin, std::min(old.end, begin), old.failure});
    if (!inserted && old.end > begin) {
      append(result, made);
      inserted = true;
    }
    append(result, {std::max(old.begin, end), old.end, old.failure});
  }
  if (!inserted) append(result, made);

  single_ = result.size() == 1 ? result.front() : Claim{};
  if (result.size() > 1) {
    several_ = std::move(result);
  } else {
    several_.clear();
  }
}

}  // namespace backplane::toolkit
