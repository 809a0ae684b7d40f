#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "translator_test_support.h"

namespace backplane::translator::test {
namespace {

constexpr const char* kSaxpy = R"(
layout(local_size_x = 256) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Scalars { float a; uint n; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n) y[i] = a * x[i] + y[i];
})";

struct SaxpyScalars {
  float a;
  std::uint32_t n;
};

TEST(LaunchTest, SaxpyGivesWhatTheHostComputes) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  const TestKernel kernel(compile_glsl(kSaxpy));
  const std::uint32_t count = 1000;
  std::vector<float> x = random.reals<float>(count, -10, 10);
  std::vector<float> y = random.reals<float>(count, -10, 10);
  const std::vector<float> before = y;
  const SaxpyScalars scalars = {.a = 2.5F, .n = count};
  kernel.run({.x = 4}, {buffer_of(x), buffer_of(y)}, &scalars);
  expect_close(
      y, [&](std::size_t i) { return 2.5 * static_cast<double>(x[i]) + static_cast<double>(before[i]); },
      1e-5, 0);
}

TEST(LaunchTest, BuiltInsCountInEveryDimension) {
  std::vector<std::uint32_t> out(std::size_t{2} * 3 * 2 * 4 * 3 * 2 * 8);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;
layout(binding=0) buffer O { uint o[]; };
void main() {
  uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize;
  uvec3 g = gl_GlobalInvocationID;
  uint at = (g.x + size.x * (g.y + size.y * g.z)) * 8u;
  o[at] = gl_LocalInvocationIndex;
  o[at+1] = gl_LocalInvocationID.x; o[at+2] = gl_LocalInvocationID.y; o[at+3] = gl_LocalInvocationID.z;
  o[at+4] = gl_WorkGroupID.x; o[at+5] = gl_WorkGroupID.y; o[at+6] = gl_WorkGroupID.z; o[at+7] = 1u;
})"));
  kernel.run({.x = 2, .y = 3, .z = 2}, {buffer_of(out)});
  expect_equal(out, [](std::size_t at) {
    const std::size_t i = at / 8;
    const std::size_t x = i % 8;
    const std::size_t y = i / 8 % 9;
    const std::size_t z = i / 72;
    const std::size_t expected[] = {
        x % 4 + 4 * (y % 3 + 3 * (z % 2)), x % 4, y % 3, z % 2, x / 4, y / 3, z / 2, 1};
    return expected[at % 8];
  });
}

TEST(LaunchTest, ARangeRunsItsWorkgroupsAlone) {
  std::vector<std::uint32_t> out(std::size_t{12} * 16);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 16) in;
layout(binding=0) buffer O { uint o[]; };
void main() { o[(gl_WorkGroupID.x + 4u * gl_WorkGroupID.y) * 16u + gl_LocalInvocationID.x] = 1u; })"));
  kernel.run_range({.x = 4, .y = 3}, {buffer_of(out)}, 5, 7);
  kernel.run_range({.x = 4, .y = 3}, {buffer_of(out)}, 9, 9);
  expect_equal(out, [](std::size_t at) { return at / 16 == 5 || at / 16 == 6 ? 1 : 0; });
}

TEST(LaunchTest, OverlappingBuffersGiveWhatInvocationsInOrderGive) {
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) buffer A { float a[]; };
layout(binding=1) buffer B { float b[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  float sum = 0.0;
  for (int k = 0; k < 4; ++k) { sum += a[i]; b[i] = sum; }
})"));
  std::vector<float> both(256, 1.0F);
  kernel.run({.x = 4}, {buffer_of(both), buffer_of(both)});
  // Each turn doubles what the one before stored: 1, 2, 4, 8.
  expect_equal(both, [](std::size_t) { return 8.0F; });
  std::vector<float> a(256, 1.0F);
  std::vector<float> b(256, 0.0F);
  kernel.run({.x = 4}, {buffer_of(a), buffer_of(b)});
  expect_equal(b, [](std::size_t) { return 4.0F; });
}

TEST(LaunchTest, BoundsChecksHoldForEveryShapeAndLength) {
  const char* const guards[] = {"i < n",
                                "!(i >= n)",
                                "int(i) < int(n)",
                                "i <= n - 1u && n != 0u",
                                "n > i",
                                "(i > 0u || n > 0u) && i < n",
                                "all(lessThan(uvec2(i, 0u), uvec2(n, 1u)))"};
  for (const char* guard : guards) {
    SCOPED_TRACE(guard);
    const TestKernel kernel(compile_glsl(std::string(R"(
layout(local_size_x = 64) in;
layout(binding=0) buffer O { uint o[]; };
layout(push_constant) uniform P { uint n; };
void main() { uint i = gl_GlobalInvocationID.x; if ()") +
                                         guard + ") o[i] = i + 1u; }"));
    for (const std::uint32_t count : {0U, 1U, 63U, 64U, 65U, 100U, 127U, 128U, 1000U}) {
      std::vector<std::uint32_t> out(192);
      kernel.run({.x = 3}, {buffer_of(out)}, &count);
      expect_equal(out, [&](std::size_t i) { return i < count ? i + 1 : 0; });
    }
  }
}

TEST(LaunchTest, StencilsReadTheirNeighboursInsideTheBorder) {
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 16, local_size_y = 4) in;
layout(binding=0) readonly buffer A { float a[]; };
layout(binding=1) buffer B { float b[]; };
layout(push_constant) uniform P { uint width; uint height; };
void main() {
  uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
  if (x >= width || y >= height) return;
  float sum = a[y * width + x];
  if (x > 0u) sum += a[y * width + x - 1u];
  if (x < width - 1u) sum += a[y * width + x + 1u];
  if (y > 0u) sum += a[(y - 1u) * width + x];
  if (y < height - 1u) sum += a[(y + 1u) * width + x];
  b[y * width + x] = sum;
})"));
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  for (const std::uint32_t width : {1U, 15U, 16U, 33U, 48U, 70U}) {
    const std::uint32_t height = 9;
    std::vector<float> a = random.reals<float>(std::size_t{width} * height, -1, 1);
    std::vector<float> b(a.size());
    const std::uint32_t scalars[2] = {width, height};
    kernel.run({.x = (width + 15) / 16, .y = 3}, {buffer_of(a), buffer_of(b)}, scalars);
    expect_close(
        b,
        [&](std::size_t at) {
          const std::size_t x = at % width;
          const std::size_t y = at / width;
          const auto value = [&](std::size_t position) { return static_cast<double>(a[position]); };
          return value(at) + (x > 0 ? value(at - 1) : 0) + (x + 1 < width ? value(at + 1) : 0) +
                 (y > 0 ? value(at - width) : 0) + (y + 1 < height ? value(at + width) : 0);
        },
        1e-5, 0);
  }
}

TEST(LaunchTest, ControlFlowOfEveryKind) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<std::uint32_t> in = random.integers<std::uint32_t>(256);
  std::vector<std::uint32_t> out(256);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) readonly buffer I { uint n[]; };
layout(binding=1) buffer O { uint o[]; };
uint steps(uint x) {
  uint count = 0u;
  while (x != 1u) {
    if (count > 50u) return 1000u;
    x = (x & 1u) == 0u ? x / 2u : 3u * x + 1u;
    ++count;
  }
  return count;
}
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint x = n[i];
  uint result = 0u;
  switch (x % 5u) {
    case 0u: result = 10u; break;
    case 1u: result = 20u;
    case 2u: result += 1u; break;
    case 3u: for (uint k = 0u; k < 10u; ++k) { if (k == 3u) continue; if (k == 7u) break; result += k; } break;
    default: do { result += x & 3u; x >>= 2; } while (x != 0u);
  }
  o[i] = result * 2000u + steps(i + 1u);
})"));
  kernel.run({.x = 4}, {buffer_of(in), buffer_of(out)});
  expect_equal(out, [&](std::size_t at) {
    std::uint32_t x = in[at];
    std::uint32_t result = 0;
    const std::uint32_t kind = x % 5;
    if (kind < 4) {
      constexpr std::uint32_t kResults[] = {10, 21, 1, 18};
      result = kResults[kind];
    } else {
      do {
        result += x & 3U;
        x >>= 2U;
      } while (x != 0);
    }
    std::uint32_t count = 0;
    for (std::uint64_t n = at + 1; n != 1; ++count) {
      if (count > 50) {
        count = 1000;
        break;
      }
      n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    }
    return result * 2000 + count;
  });
}

TEST(LaunchTest, EveryOptimizationLevelGivesTheSame) {
  for (std::uint32_t level = 0; level <= 3; ++level) {
    const TestKernel kernel(compile_glsl(kSaxpy), level);
    std::vector<float> x(256, 2.0F);
    std::vector<float> y(256, 1.0F);
    const SaxpyScalars scalars = {.a = 3, .n = 200};
    kernel.run({.x = 1}, {buffer_of(x), buffer_of(y)}, &scalars);
    expect_equal(y, [](std::size_t i) { return i < 200 ? 7.0F : 1.0F; });
  }
}

#if defined(__x86_64__)
TEST(LaunchTest, SaxpyIsVectorised) {
  if (!__builtin_cpu_supports("avx2")) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  const std::string assembly = TestKernel(compile_glsl(kSaxpy)).assembly();
  EXPECT_TRUE(assembly.find("ymm") != std::string::npos || assembly.find("zmm") != std::string::npos)
      << assembly;
}

TEST(LaunchTest, VectorsAndMathematicsAreVectorisedAcrossInvocations) {
  if (!__builtin_cpu_supports("avx2")) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) readonly buffer A { vec4 a[]; };
layout(binding=1) buffer B { vec4 b[]; };
void main() { uint i = gl_GlobalInvocationID.x; b[i] = exp(a[i]) + a[i].wzyx; })"));
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<float> a = random.reals<float>(1024, -4, 4);
  std::vector<float> b(1024);
  kernel.run({.x = 4}, {buffer_of(a), buffer_of(b)});
  expect_close(
      b,
      [&](std::size_t i) {
        return std::exp(static_cast<double>(a[i])) + static_cast<double>(a[i / 4 * 4 + 3 - i % 4]);
      },
      1e-6, 1e-6);
  if (std::string(api().fingerprint()).find("libmvec") != std::string::npos) {
    EXPECT_NE(kernel.assembly().find("_expf"), std::string::npos) << kernel.assembly();
  }
}
#endif

}  // namespace
}  // namespace backplane::translator::test
