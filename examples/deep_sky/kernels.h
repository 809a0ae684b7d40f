#pragma once

namespace deep_sky {

// GLSL of each step. A picture is a flat array of floats, row by row; one invocation takes one pixel, unless
// it says otherwise.

/// Luminance (ITU-R BT.709) of packed 8-bit pixels.
inline constexpr const char* kGrey = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Pixels { uint pixels[]; };
layout(binding = 1) writeonly buffer Grey { float grey[]; };
layout(push_constant) uniform Arguments { uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) grey[i] = dot(unpackUnorm4x8(pixels[i]).rgb, vec3(0.2126, 0.7152, 0.0722));
})";

/// One direction of a separable blur; beyond the edge stands the edge.
inline constexpr const char* kBlur = R"(
layout(local_size_x = 256) in;
layout(constant_id = 0) const bool vertical = false;
layout(binding = 0) readonly buffer Source { float source[]; };
layout(binding = 1) readonly buffer Weights { float weights[]; };
layout(binding = 2) writeonly buffer Result { float result[]; };
layout(push_constant) uniform Arguments { int width; int height; int radius; };
void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= width * height) return;
  int x = i % width;
  int y = i / width;
  float sum = 0.0;
  for (int k = -radius; k <= radius; ++k) {
    int at = vertical ? clamp(y + k, 0, height - 1) * width + x : y * width + clamp(x + k, 0, width - 1);
    sum += weights[k + radius] * source[at];
  }
  result[i] = sum;
})";

inline constexpr const char* kSubtract = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Grey { float grey[]; };
layout(binding = 1) readonly buffer Background { float background[]; };
layout(binding = 2) writeonly buffer Residual { float residual[]; };
layout(push_constant) uniform Arguments { uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < count) residual[i] = grey[i] - background[i];
})";

/// First half of a reduction: count, sum and sum of squares of one row's values within the clip.
inline constexpr const char* kRowMoments = R"(
layout(local_size_x = 16) in;
layout(binding = 0) readonly buffer Residual { float residual[]; };
layout(binding = 1) readonly buffer Moments { float mean; float deviation; };
layout(binding = 2) writeonly buffer Rows { vec4 rows[]; };
layout(push_constant) uniform Arguments { uint width; uint height; float clip; };
void main() {
  uint y = gl_GlobalInvocationID.x;
  if (y >= height) return;
  float limit = clip * deviation;
  vec3 sums = vec3(0.0);
  for (uint x = 0; x < width; ++x) {
    float value = residual[y * width + x] - mean;
    if (abs(value) <= limit) sums += vec3(1.0, value, value * value);
  }
  rows[y] = vec4(sums, 0.0);
})";

/// Second half, by one invocation: mean and standard deviation of what the rows counted.
inline constexpr const char* kMoments = R"(
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer Rows { vec4 rows[]; };
layout(binding = 1) buffer Moments { float mean; float deviation; };
layout(push_constant) uniform Arguments { uint height; };
void main() {
  vec3 sums = vec3(0.0);
  for (uint y = 0; y < height; ++y) sums += rows[y].xyz;
  float count = max(sums.x, 1.0);
  float shift = sums.y / count;
  deviation = sqrt(max(sums.z / count - shift * shift, 0.0));
  mean += shift;
})";

/// Starts the labelling: a pixel above the threshold bears its own number, counted from 1; all others 0.
/// Counts the local maxima on the way.
inline constexpr const char* kMark = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Residual { float residual[]; };
layout(binding = 1) readonly buffer Moments { float mean; float deviation; };
layout(binding = 2) writeonly buffer Labels { uint labels[]; };
layout(binding = 3) buffer Maxima { uint maxima; };
layout(push_constant) uniform Arguments { int width; int height; float threshold; };
void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= width * height) return;
  float value = residual[i];
  bool bright = value > mean + threshold * deviation;
  labels[i] = bright ? uint(i) + 1 : 0;
  if (!bright) return;
  int x = i % width;
  int y = i / width;
  for (int dy = max(-2, -y); dy <= min(2, height - 1 - y); ++dy) {
    for (int dx = max(-2, -x); dx <= min(2, width - 1 - x); ++dx) {
      int j = i + dy * width + dx;
      if (residual[j] > value || (residual[j] == value && j < i)) return;
    }
  }
  atomicAdd(maxima, 1);
})";

/// One round of labelling: a pixel takes the smallest label of its neighbours, and then that label's own.
/// Says whether any changed.
inline constexpr const char* kSpread = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Before { uint before[]; };
layout(binding = 1) writeonly buffer After { uint after[]; };
layout(binding = 2) buffer Changed { uint changed; };
layout(push_constant) uniform Arguments { int width; int height; };
void main() {
  int i = int(gl_GlobalInvocationID.x);
  if (i >= width * height) return;
  uint label = before[i];
  if (label != 0) {
    int x = i % width;
    int y = i / width;
    for (int dy = max(-1, -y); dy <= min(1, height - 1 - y); ++dy) {
      for (int dx = max(-1, -x); dx <= min(1, width - 1 - x); ++dx) {
        uint other = before[i + dy * width + dx];
        if (other != 0) label = min(label, other);
      }
    }
    label = min(label, before[label - 1]);
    if (label != before[i]) atomicOr(changed, 1);
  }
  after[i] = label;
})";

/// Adds every pixel to its region: size, flux, and the brightness of the peak, whose bits order like numbers.
inline constexpr const char* kMeasure = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Labels { uint labels[]; };
layout(binding = 1) readonly buffer Residual { float residual[]; };
layout(binding = 2) buffer Pixels { uint pixels[]; };
layout(binding = 3) buffer Flux { uint flux[]; };
layout(binding = 4) buffer Brightest { uint brightest[]; };
layout(push_constant) uniform Arguments { uint count; float flux_unit; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count || labels[i] == 0) return;
  uint region = labels[i] - 1;
  float value = max(residual[i], 0.0);
  atomicAdd(pixels[region], 1);
  atomicAdd(flux[region], uint(value / flux_unit + 0.5));
  atomicMax(brightest[region], floatBitsToUint(value));
})";

/// Finds where each region's peak is: the first of its brightest pixels.
inline constexpr const char* kLocate = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Labels { uint labels[]; };
layout(binding = 1) readonly buffer Residual { float residual[]; };
layout(binding = 2) readonly buffer Brightest { uint brightest[]; };
layout(binding = 3) buffer Peaks { uint peaks[]; };
layout(push_constant) uniform Arguments { uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count || labels[i] == 0) return;
  uint region = labels[i] - 1;
  if (floatBitsToUint(max(residual[i], 0.0)) == brightest[region]) atomicMin(peaks[region], i);
})";

/// Gathers the regions that are large enough, in any order. The list's first word counts them.
inline constexpr const char* kCollect = R"(
layout(local_size_x = 256) in;
layout(binding = 0) readonly buffer Labels { uint labels[]; };
layout(binding = 1) readonly buffer Pixels { uint pixels[]; };
layout(binding = 2) readonly buffer Flux { uint flux[]; };
layout(binding = 3) readonly buffer Peaks { uint peaks[]; };
layout(binding = 4) buffer List { uint found; uint list[]; };
layout(push_constant) uniform Arguments { uint count; uint least_pixels; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count || labels[i] != i + 1 || pixels[i] < least_pixels) return;
  uint at = 3 * atomicAdd(found, 1);
  list[at] = peaks[i];
  list[at + 1] = pixels[i];
  list[at + 2] = flux[i];
})";

}  // namespace deep_sky
