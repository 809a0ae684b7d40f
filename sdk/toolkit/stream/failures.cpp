#include <algorithm>

#include <backplane/toolkit/failures.h>

namespace backplane::toolkit {

void Failures::forget(TrackedMemory& memory) {
  replace({&memory, nullptr, 0, ~std::uint64_t{0}}, {});
}

Result<void> Failures::ensure_written(std::span<const TrackedRange> ranges) const {
  std::vector<Error> errors;
  std::vector<FailureId> seen;
  for (const TrackedRange& range : ranges) {
    for (const Taint::Claim& claim : range.memory->taint.overlapping(range.begin, range.end)) {
      if (std::ranges::find(seen, claim.failure) != seen.end()) continue;
      seen.push_back(claim.failure);
      errors.push_back(graph_.report(claim.failure, range.memory->serial, range.allocation->label()));
    }
  }
  if (errors.empty()) return {};
  return Error::several(std::move(errors));
}

void Failures::claim(std::span<const TrackedRange> ranges, Error error, std::string operation,
                     StreamId stream) {
  note_failure(stream, error);
  const FailureId failure = graph_.add(std::move(error), std::move(operation));
  for (const TrackedRange& range : ranges) replace(range, failure);
  graph_.release_unless_carried(failure);
}

WindowId Failures::open_window(StreamId stream) {
  const WindowId id{++last_window_};
  windows_.emplace(id, Window{stream, std::nullopt});
  return id;
}

std::optional<Result<void>> Failures::close_window(WindowId window) {
  const auto node = windows_.extract(window);
  if (node.empty()) return std::nullopt;
  if (std::optional<Error>& failure = node.mapped().failure) return Result<void>(*std::move(failure));
  return Result<void>();
}

void Failures::enter(std::span<const TrackedRange> written) {
  for (const TrackedRange& range : written) {
    if (range.memory->taint.clean()) {
      range.memory->taint.claim(range.begin, range.end, kProvisionalFailure);
    } else {
      replace(range, kProvisionalFailure);
    }
  }
}

void Failures::release(std::span<const TrackedRange> written) {
  // Entering left nothing but the provisional claim on these bytes, behind which no failure stands.
  for (const TrackedRange& range : written) range.memory->taint.release(range.begin, range.end);
}

const TrackedRange* Failures::find_unwritten(std::span<const TrackedRange> reads) noexcept {
  for (const TrackedRange& range : reads) {
    if (range.memory->taint.clean()) continue;
    if (!range.memory->taint.overlapping(range.begin, range.end).empty()) return &range;
  }
  return nullptr;
}

void Failures::propagate(const TrackedRange& needed, std::span<const TrackedRange> written,
                         std::string_view kernel, StreamId stream) {
  const FailureId failure = needed.memory->taint.overlapping(needed.begin, needed.end).front().failure;
  const std::string& label = needed.allocation->label();
  note_failure(stream, graph_.report(failure, needed.memory->serial, label));

  ErrorGraph::Skip skip{std::string(kernel), needed.memory->serial, label, {}};
  for (const TrackedRange& range : written) {
    replace(range, failure);
    skip.written.push_back(range.memory->serial);
  }
  graph_.skip(failure, std::move(skip));
}

void Failures::replace(const TrackedRange& range, FailureId failure) {
  Taint& taint = range.memory->taint;
  std::vector<FailureId> before;
  for (const Taint::Claim& claim : taint.overlapping(range.begin, range.end)) before.push_back(claim.failure);
  const bool carried = taint.carries(failure);
  if (failure == FailureId{}) {
    taint.release(range.begin, range.end);
  } else {
    taint.claim(range.begin, range.end, failure);
    if (!carried && taint.carries(failure)) graph_.retain(failure);
  }
  std::ranges::sort(before);
  before.erase(std::ranges::unique(before).begin(), before.end());
  for (const FailureId old : before) {
    if (!taint.carries(old)) graph_.release(old);
  }
}

void Failures::note_failure(StreamId stream, const Error& error) {
  for (auto& [id, window] : windows_) {
    if (window.stream == stream && !window.failure) window.failure = error;
  }
}

}  // namespace backplane::toolkit
