#include "allocation_traces.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace backplane::toolkit {
namespace {

class TraceWriter {
 public:
  TraceWriter(std::uint64_t seed, std::uint64_t unit) : random_(seed), unit_(unit) {}

  std::size_t allocate(std::uint64_t size) {
    trace_.push_back({next_, std::max<std::uint64_t>(size, 1)});
    return next_++;
  }
  void free(std::size_t id) { trace_.push_back({id, 0}); }

  void free_all(std::vector<std::size_t>& ids) {
    for (const std::size_t id : ids) free(id);
    ids.clear();
  }

  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution(low, high)(random_);
  }

  /// Bytes from `low` to `high` units, each factor of two as likely as any other.
  std::uint64_t bytes(double low, double high) {
    const double exponent = std::uniform_real_distribution(std::log2(low), std::log2(high))(random_);
    return static_cast<std::uint64_t>(std::exp2(exponent) * static_cast<double>(unit_));
  }

  void shuffle(std::vector<std::size_t>& ids) { std::ranges::shuffle(ids, random_); }
  std::vector<TraceStep> take() { return std::move(trace_); }

 private:
  std::mt19937_64 random_;
  std::uint64_t unit_;
  std::size_t next_ = 0;
  std::vector<TraceStep> trace_;
};

}  // namespace

std::vector<TraceStep> training_like_trace(std::uint64_t seed, std::uint64_t unit) {
  TraceWriter trace(seed, unit);
  constexpr std::size_t kLayers = 24;
  std::vector<std::size_t> kept;
  std::vector<std::uint64_t> widths;
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    widths.push_back(trace.bytes(1, 64));
    for (int copy = 0; copy < 3; ++copy)
      kept.push_back(trace.allocate(widths.back() / 2));  // and its moments
  }
  for (int step = 0; step < 40; ++step) {
    const std::uint64_t length = trace.between(6, 8);  // batches are not all equally long
    std::vector<std::size_t> activations;
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      const std::size_t scratch = trace.allocate(widths[layer] * length / 4);
      activations.push_back(trace.allocate(widths[layer] * length / 8));
      activations.push_back(trace.allocate(trace.bytes(0.01, 0.1)));
      trace.free(scratch);
    }
    std::vector<std::size_t> gradients;
    for (std::size_t layer = kLayers; layer-- > 0;) {
      const std::size_t incoming = trace.allocate(widths[layer] * length / 8);
      gradients.push_back(trace.allocate(widths[layer] / 2));
      trace.free(activations[2 * layer + 1]);
      trace.free(activations[2 * layer]);
      trace.free(incoming);
    }
    trace.free_all(gradients);
  }
  trace.free_all(kept);
  return trace.take();
}

std::vector<TraceStep> inference_like_trace(std::uint64_t seed, std::uint64_t unit) {
  struct Request {
    std::size_t cache;
    std::uint64_t steps_left;
  };
  TraceWriter trace(seed, unit);
  std::vector<std::size_t> weights;
  for (int i = 0; i < 40; ++i) weights.push_back(trace.allocate(trace.bytes(4, 64)));
  std::vector<Request> requests;
  for (int step = 0; step < 1500; ++step) {
    if (requests.size() < 24 && trace.between(0, 2) == 0) {
      requests.push_back({trace.allocate(trace.bytes(1, 32)), trace.between(5, 120)});
    }
    const std::size_t hidden = trace.allocate(trace.bytes(0.5, 8));
    const std::size_t metadata = trace.allocate(trace.bytes(0.001, 0.02));
    const std::size_t logits = trace.allocate(trace.bytes(0.5, 2));
    trace.free(hidden);
    trace.free(metadata);
    trace.free(logits);
    for (Request& request : requests) {
      if (--request.steps_left == 0) trace.free(request.cache);
    }
    std::erase_if(requests, [](const Request& request) { return request.steps_left == 0; });
  }
  for (const Request& request : requests) trace.free(request.cache);
  trace.free_all(weights);
  return trace.take();
}

std::vector<TraceStep> adversarial_trace(std::uint64_t seed, std::uint64_t unit) {
  TraceWriter trace(seed, unit);
  std::vector<std::size_t> live;
  for (int phase = 0; phase < 12; ++phase) {
    const std::uint64_t base = trace.bytes(0.25, 4);
    std::vector<std::size_t> teeth;
    for (int i = 0; i < 160; ++i) teeth.push_back(trace.allocate(base + trace.between(0, base / 16)));
    for (std::size_t i = 0; i < teeth.size(); ++i) {
      if (i % 2 == 0) {
        trace.free(teeth[i]);
      } else {
        live.push_back(teeth[i]);
      }
    }
    for (int i = 0; i < 40; ++i) live.push_back(trace.allocate(base + base / 8 + trace.between(0, base)));
    trace.shuffle(live);
    while (live.size() > 200) {
      trace.free(live.back());
      live.pop_back();
    }
  }
  trace.free_all(live);
  return trace.take();
}

std::size_t allocations_in(const std::vector<TraceStep>& trace) {
  std::size_t count = 0;
  for (const TraceStep& step : trace) count = std::max(count, step.id + 1);
  return count;
}

}  // namespace backplane::toolkit
