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

}  // namespace
}  // namespace backplane::translator::test
