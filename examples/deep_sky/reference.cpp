#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace deep_sky {
namespace {

/// A picture of doubles, with pixels beyond the edge standing for the edge.
struct Plane {
  int width;
  int height;
  std::vector<double> values;

  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(std::clamp(y, 0, height - 1)) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(std::clamp(x, 0, width - 1));
  }
};

Plane grey(const Picture& picture) {
  Plane plane{static_cast<int>(picture.width), static_cast<int>(picture.height), {}};
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    plane.values.push_back(
        (0.2126 * picture.rgb[i] + 0.7152 * picture.rgb[i + 1] + 0.0722 * picture.rgb[i + 2]) / 255.0);
  }
  return plane;
}

Plane blur(const Plane& source, const std::vector<float>& weights, int step_x, int step_y) {
  Plane result = source;
  const int radius = static_cast<int>(weights.size() / 2);
  for (int y = 0; y < source.height; ++y) {
    for (int x = 0; x < source.width; ++x) {
      double sum = 0;
      for (int k = -radius; k <= radius; ++k) {
        sum += static_cast<double>(weights[static_cast<std::size_t>(k + radius)]) *
               source.values[source.index(x + k * step_x, y + k * step_y)];
      }
      result.values[source.index(x, y)] = sum;
    }
  }
  return result;
}

struct Moments {
  double mean = 0;
  double deviation = std::numeric_limits<double>::max();
};

Moments clipped_moments(const std::vector<double>& values, const Settings& settings) {
  Moments moments;
  for (std::uint32_t round = 0; round <= settings.clippings; ++round) {
    const double limit = (round == 0 ? 1.0 : static_cast<double>(settings.clip)) * moments.deviation;
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (const double value : values) {
      const double shifted = value - moments.mean;
      if (std::abs(shifted) > limit) continue;
      count += 1;
      sum += shifted;
      squares += shifted * shifted;
    }
    const double shift = sum / std::max(count, 1.0);
    moments = {moments.mean + shift,
               std::sqrt(std::max(squares / std::max(count, 1.0) - shift * shift, 0.0))};
  }
  return moments;
}

bool is_local_maximum(const Plane& residual, int x, int y) {
  const std::size_t here = residual.index(x, y);
  for (int dy = std::max(-2, -y); dy <= std::min(2, residual.height - 1 - y); ++dy) {
    for (int dx = std::max(-2, -x); dx <= std::min(2, residual.width - 1 - x); ++dx) {
      const std::size_t there = residual.index(x + dx, y + dy);
      if (residual.values[there] > residual.values[here]) return false;
      if (residual.values[there] == residual.values[here] && there < here) return false;
    }
  }
  return true;
}

/// Collects the region around a bright pixel and unmarks it.
Source take_region(const Plane& residual, std::vector<bool>& bright, std::size_t start) {
  Source source{static_cast<std::uint32_t>(start), 0, 0};
  std::vector<std::size_t> open{start};
  bright[start] = false;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    const double value = std::max(residual.values[at], 0.0);
    ++source.pixels;
    source.flux += static_cast<std::uint32_t>(value / static_cast<double>(kFluxUnit) + 0.5);
    const double peak = residual.values[source.peak];
    if (residual.values[at] > peak || (residual.values[at] == peak && at < source.peak)) {
      source.peak = static_cast<std::uint32_t>(at);
    }
    const int x = static_cast<int>(at % static_cast<std::size_t>(residual.width));
    const int y = static_cast<int>(at / static_cast<std::size_t>(residual.width));
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const std::size_t there = residual.index(x + dx, y + dy);
        if (!bright[there]) continue;
        bright[there] = false;
        open.push_back(there);
      }
    }
  }
  return source;
}

}  // namespace

void sort_by_brightness(std::vector<Source>& sources) {
  std::ranges::sort(sources, [](const Source& a, const Source& b) {
    return a.flux != b.flux ? a.flux > b.flux : a.peak < b.peak;
  });
}

std::vector<float> gaussian(const Settings& settings) {
  const int radius = static_cast<int>(settings.radius);
  std::vector<double> weights;
  for (int k = -radius; k <= radius; ++k) {
    const double distance = k / static_cast<double>(settings.sigma);
    weights.push_back(std::exp(-0.5 * distance * distance));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<float> normalized;
  for (const double weight : weights) normalized.push_back(static_cast<float>(weight / sum));
  return normalized;
}

Detection detect_on_host(const Picture& picture, const Settings& settings) {
  const std::vector<float> weights = gaussian(settings);
  Plane residual = grey(picture);
  const Plane background = blur(blur(residual, weights, 1, 0), weights, 0, 1);
  for (std::size_t i = 0; i < residual.values.size(); ++i) residual.values[i] -= background.values[i];
  const Moments moments = clipped_moments(residual.values, settings);

  Detection detection;
  detection.noise = static_cast<float>(moments.deviation);
  const double level = moments.mean + static_cast<double>(settings.threshold) * moments.deviation;
  std::vector<bool> bright;
  for (const double value : residual.values) bright.push_back(value > level);
  for (int y = 0; y < residual.height; ++y) {
    for (int x = 0; x < residual.width; ++x) {
      if (bright[residual.index(x, y)] && is_local_maximum(residual, x, y)) ++detection.local_maxima;
    }
  }
  for (std::size_t i = 0; i < bright.size(); ++i) {
    if (!bright[i]) continue;
    const Source source = take_region(residual, bright, i);
    if (source.pixels >= settings.least_pixels) detection.sources.push_back(source);
  }
  sort_by_brightness(detection.sources);
  return detection;
}

}  // namespace deep_sky
