#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace deep_sky {

/// How sources are told from the sky. Both the device and the host follow it.
struct Settings {
  float sigma = 24.0F;        ///< Of the background's Gaussian, in pixels.
  std::uint32_t radius = 72;  ///< Pixels to either side that it takes in.
  float threshold = 4.0F;     ///< A source is brighter than the sky by this many times the noise.
  std::uint32_t clippings =
      5;  ///< Rounds in which the noise leaves out what lies beyond `clip` times itself.
  float clip = 3.0F;
  std::uint32_t least_pixels = 5;  ///< Smaller regions are noise.
};

/// Fractions of a grey level that flux is counted in: integers add up alike in any order.
inline constexpr float kFluxUnit = 1.0F / 1024.0F;

/// A light source: a connected region brighter than the sky.
struct Source {
  std::uint32_t peak;    ///< Index of its brightest pixel.
  std::uint32_t pixels;  ///< Size of the region.
  std::uint32_t flux;    ///< Light above the background, in `kFluxUnit`.

  friend bool operator==(const Source&, const Source&) = default;
};

struct Stage {
  std::string name;
  std::chrono::nanoseconds time;
};

/// What was found, the brightest first.
struct Detection {
  std::vector<Source> sources;
  std::uint32_t local_maxima = 0;  ///< Pixels above the threshold that are brighter than all 24 around them.
  float noise = 0;                 ///< Standard deviation of the sky, in grey levels of 0 to 1.
  std::vector<Stage> stages;       ///< Empty for the host's.
};

/// Sorts by falling flux, then by position.
void sort_by_brightness(std::vector<Source>& sources);

/// The background's weights, from -radius to +radius; they add up to 1.
std::vector<float> gaussian(const Settings& settings);

}  // namespace deep_sky
