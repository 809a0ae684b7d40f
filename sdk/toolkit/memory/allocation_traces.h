#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace backplane::toolkit {

/// One step of a trace: an allocation is made, or an earlier one freed.
struct TraceStep {
  std::size_t id;      ///< Of the allocation, from 0.
  std::uint64_t size;  ///< Bytes; 0 frees it.
};

/// What programs ask of an allocator, made up from a seed; `unit` is the size of a typical small tensor in
/// bytes. Everything is freed at the end.
std::vector<TraceStep> training_like_trace(std::uint64_t seed, std::uint64_t unit);   // layers there and back
std::vector<TraceStep> inference_like_trace(std::uint64_t seed, std::uint64_t unit);  // requests that overlap
std::vector<TraceStep> adversarial_trace(std::uint64_t seed, std::uint64_t unit);  // combs, then larger ones

/// How many allocations a trace names.
[[nodiscard]] std::size_t allocations_in(const std::vector<TraceStep>& trace);

}  // namespace backplane::toolkit
