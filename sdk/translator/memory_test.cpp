#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "translator_test_support.h"

// Layouts, composites, matrices, variables of every kind, atomics.

namespace backplane::translator::test {
namespace {

constexpr std::uint32_t kCount = 128;

TEST(MemoryTest, StructuresLieAsTheirLayoutSays) {
  struct Inner {
    float weight;
    std::int32_t kind;
  };
  struct Element {
    float position[3];
    float mass;
    Inner inner[2];
    double wide;
    std::uint8_t small;
  };
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<Element> elements(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::vector<float> r = random.reals<float>(6, -1, 1);
    elements[i] = {.position = {r[0], r[1], r[2]},
                   .mass = r[3],
                   .inner = {{r[4], static_cast<int>(i)}, {r[5], -static_cast<int>(i)}},
                   .wide = static_cast<double>(i) * 0.5,
                   .small = static_cast<std::uint8_t>(i)};
  }
  const std::vector<Element> before = elements;
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
struct Inner { float weight; int kind; };
struct Element { vec3 position; float mass; Inner inner[2]; double wide; uint8_t small; };
layout(binding=0, scalar) buffer E { Element e[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  Element x = e[i];
  x.position = x.position.zxy * x.mass;
  x.inner[i & 1u].weight += 1.0;
  x.inner[1].kind *= 2;
  x.wide += double(x.small);
  e[i] = x;
  e[i].position.y = float(e[i].inner[0].kind);
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(elements)});
  for (std::size_t i = 0; i < kCount; ++i) {
    const Element& was = before[i];
    const Element& is = elements[i];
    ASSERT_FLOAT_EQ(is.position[0], was.position[2] * was.mass);
    ASSERT_FLOAT_EQ(is.position[1], static_cast<float>(i));
    ASSERT_FLOAT_EQ(is.position[2], was.position[1] * was.mass);
    ASSERT_FLOAT_EQ(is.inner[i & 1U].weight, was.inner[i & 1U].weight + 1);
    ASSERT_EQ(is.inner[1].kind, 2 * was.inner[1].kind);
    ASSERT_EQ(is.wide, was.wide + static_cast<double>(i));
    ASSERT_EQ(is.small, was.small);
  }
}

TEST(MemoryTest, MatricesLieByRowsOrColumns) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  // Both are 3 x 3 with a stride of 16 bytes, one by rows, one by columns.
  std::vector<float> rows = random.reals<float>(std::size_t{kCount} * 12, -1, 1);
  std::vector<float> columns(rows.size());
  std::vector<float> single(kCount);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0, std430, row_major) readonly buffer R { mat3 r[]; };
layout(binding=1, std430, column_major) buffer K { mat3 k[]; };
layout(binding=2) buffer S { float s[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  k[i] = r[i];
  s[i] = r[i][2][1] + r[i][i % 3u].x;
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(rows), buffer_of(columns), buffer_of(single)});
  for (std::size_t m = 0; m < kCount; ++m) {
    const auto row_entry = [&](std::size_t column, std::size_t row) {
      return rows[m * 12 + row * 4 + column];
    };
    for (std::size_t column = 0; column < 3; ++column) {
      for (std::size_t row = 0; row < 3; ++row) {
        ASSERT_EQ(columns[m * 12 + column * 4 + row], row_entry(column, row));
      }
    }
    ASSERT_FLOAT_EQ(single[m], row_entry(2, 1) + row_entry(m % 3, 0));
  }
}

TEST(MemoryTest, MatricesMultiplyInvertAndTranspose) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<float> a = random.reals<float>(std::size_t{kCount} * 16, -1, 1);
  for (std::size_t m = 0; m < kCount; ++m) {
    for (std::size_t d = 0; d < 4; ++d) {
      a[m * 16 + d * 5] += 4;  // Far from singular.
    }
  }
  std::vector<float> identity(a.size());
  std::vector<float> results(std::size_t{kCount} * 4);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) readonly buffer A { mat4 a[]; };
layout(binding=1) buffer B { mat4 b[]; };
layout(binding=2) buffer C { vec4 c[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  mat4 m = a[i];
  b[i] = m * inverse(m);
  vec4 v = vec4(1, 2, 3, 4);
  vec4 difference = v * m - transpose(m) * v;
  mat2 small = mat2(m);
  c[i] = vec4(length(difference), determinant(small) - (m[0][0] * m[1][1] - m[1][0] * m[0][1]),
              dot(outerProduct(v, v)[1], vec4(1)), (m * 2.0)[3][2] - 2.0 * m[3].z);
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(a), buffer_of(identity), buffer_of(results)});
  expect_close(identity, [](std::size_t i) { return i % 16 % 5 == 0 ? 1.0 : 0.0; }, 1e-5, 0);
  expect_close(results, [](std::size_t i) { return i % 4 == 2 ? 20.0 : 0.0; }, 1e-4, 0);
}

TEST(MemoryTest, GeometricFunctions) {
  std::vector<float> c(std::size_t{64} * 8);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0, scalar) buffer C { float c[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  vec3 a = vec3(i, 1, 2), b = vec3(3, i, 1);
  vec3 n = normalize(b);
  c[i*8] = dot(cross(a, b), a) + dot(cross(a, b), b);
  c[i*8+1] = length(a); c[i*8+2] = distance(a, b); c[i*8+3] = length(n);
  c[i*8+4] = dot(reflect(a, n), n) + dot(a, n);
  c[i*8+5] = dot(faceforward(n, a, n), a) <= 0.0 ? 1.0 : 0.0;
  c[i*8+6] = length(refract(normalize(a), -normalize(a), 0.5));
  c[i*8+7] = any(greaterThan(a, b)) ? (all(lessThan(a, b)) ? 3.0 : 1.0) : 0.0;
})"));
  kernel.run({}, {buffer_of(c)});
  expect_close(
      c,
      [](std::size_t at) {
        const std::size_t row = at / 8;
        const auto i = static_cast<double>(row);
        const double expected[] = {
            0, std::sqrt(i * i + 5), std::sqrt((i - 3) * (i - 3) + (1 - i) * (1 - i) + 1), 1, 0, 1, 1, 1};
        return expected[at % 8];
      },
      1e-3, 1e-5);
}

TEST(MemoryTest, TablesPrivateAndBooleanVariables) {
  std::vector<std::uint32_t> out(kCount);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) buffer O { uint o[]; };
const uint table[10] = uint[](1, 1, 2, 3, 5, 8, 13, 21, 34, 55);
uint counter = 7;
bool flags[4];
void bump(inout uint x, uint by) { x += by; counter += 1; }
void main() {
  uint i = gl_GlobalInvocationID.x;
  for (int f = 0; f < 4; ++f) flags[f] = ((i >> f) & 1u) != 0u;
  uint values[8];
  for (uint k = 0; k < 8; ++k) values[k] = table[(i + k) % 10];
  bump(values[i % 8], 100u);
  bvec2 pair = bvec2(flags[0], flags[1]);
  o[i] = values[i % 8] + counter * 1000u + (flags[i & 3u] ? 100000u : 0u) + (any(pair) ? 1000000u : 0u);
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(out)});
  constexpr std::uint32_t kTable[] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
  expect_equal(out, [&](std::size_t at) {
    const auto i = static_cast<std::uint32_t>(at);
    return kTable[(i + i % 8) % 10] + 100 + 8 * 1000 + ((i >> (i & 3U)) & 1U) * 100000 +
           ((i & 3U) != 0 ? 1000000 : 0);
  });
}

TEST(MemoryTest, LengthsAndPushConstants) {
  struct Scalars {
    float matrix[8];
    std::uint32_t list[3];
  };
  std::vector<float> data(37);
  std::vector<std::uint32_t> out(4);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 1) in;
layout(binding=0) readonly buffer D { uint head; float d[]; };
layout(binding=1) buffer O { uint o[4]; };
layout(push_constant, std430) uniform P { mat2x4 m; uint list[3]; };
void main() { o[0] = d.length(); o[1] = uint(o.length()); o[2] = uint(m[1][2]); o[3] = list[gl_NumWorkGroups.x]; })"));
  const Scalars scalars = {.matrix = {0, 1, 2, 3, 4, 5, 6, 7}, .list = {11, 12, 13}};
  kernel.run({}, {buffer_of(data), buffer_of(out)}, &scalars);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{36, 4, 6, 12}));
}

TEST(MemoryTest, AtomicsOnBuffers) {
  std::vector<std::uint32_t> words(10, 0);
  words[4] = 0xFFFFFFFF;
  std::vector<std::uint64_t> wide(2, 0);
  std::vector<float> real(1, 0);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) buffer W { uint w[]; };
layout(binding=1) buffer L { uint64_t l[]; };
layout(binding=2) buffer R { float r[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  atomicAdd(w[0], i); atomicMin(w[4], i + 5u); atomicMax(w[1], i); atomicOr(w[2], 1u << (i & 31u)); atomicXor(w[3], i);
  atomicExchange(w[5], 9u); atomicCompSwap(w[6], 0u, 77u); atomicMax(w[7], uint(max(int(i) - 3, 0)));
  atomicAdd(l[0], uint64_t(i) << 20); atomicAdd(r[0], 0.5);
  atomicStore(w[8], 3u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
  memoryBarrierBuffer();
  if (atomicLoad(w[8], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 3u) atomicAnd(w[9], 0u);
})"));
  kernel.run({.x = 4}, {buffer_of(words), buffer_of(wide), buffer_of(real)});
  EXPECT_EQ(words, (std::vector<std::uint32_t>{32640, 255, 0xFFFFFFFF, 0, 5, 9, 77, 252, 3, 0}));
  EXPECT_EQ(wide[0], std::uint64_t{32640} << 20U);
  EXPECT_EQ(real[0], 128.0F);
}

TEST(MemoryTest, SharedVariablesAndTheirAtomics) {
  std::vector<std::uint32_t> out(256);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) buffer O { uint o[]; };
shared uint mine[64];
shared uint total;
void main() {
  uint i = gl_LocalInvocationIndex;
  mine[i] = i * 3u;
  if (i == 0u) total = 0u;
  atomicAdd(total, mine[i]);
  if (i == 63u) o[gl_WorkGroupID.x] = total;
})"));
  EXPECT_GE(kernel.info().workgroup_memory_bytes, 260U);
  kernel.run({.x = 256}, {buffer_of(out)});
  expect_equal(out, [](std::size_t) { return 3U * 2016U; });
}

}  // namespace
}  // namespace backplane::translator::test
