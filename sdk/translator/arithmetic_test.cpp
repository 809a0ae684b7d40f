#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "translator_test_support.h"

// Scalars and vectors of every width, compared with the host.
// NOLINTBEGIN(modernize-use-designated-initializers): a table, read by its columns.

namespace backplane::translator::test {
namespace {

constexpr std::uint32_t kCount = 256;

/// A kernel that sets c[i] to `expression` of a = A[i] and b = B[i].
std::string binary_kernel(const std::string& in, const std::string& out, const std::string& expression) {
  return "layout(local_size_x = 64) in;\n"
         "layout(set=0, binding=0, scalar) readonly buffer BlockA { " +
         in +
         " A[]; };\n"
         "layout(set=0, binding=1, scalar) readonly buffer BlockB { " +
         in +
         " B[]; };\n"
         "layout(set=0, binding=2, scalar) buffer BlockC { " +
         out +
         " C[]; };\n"
         "void main() { uint i = gl_GlobalInvocationID.x; " +
         in + " a = A[i]; " + in + " b = B[i]; C[i] = " + expression + "; }";
}

template <typename Out, typename In>
std::vector<Out> evaluate(const std::string& in, const std::string& out, const std::string& expression,
                          std::vector<In> a, std::vector<In> b) {
  SCOPED_TRACE(expression);
  const TestKernel kernel(compile_glsl(binary_kernel(in, out, expression)));
  std::vector<Out> c(kCount);
  kernel.run({.x = kCount / 64}, {buffer_of(a), buffer_of(b), buffer_of(c)});
  return c;
}

template <typename T>
struct IntegerCase {
  std::string expression;
  std::function<T(T, T)> host;
};

template <typename T>
void check_integers(const std::string& type, const std::vector<IntegerCase<T>>& cases) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<T> a = random.integers<T>(kCount);
  std::vector<T> b = random.integers<T>(kCount);
  a[0] = std::numeric_limits<T>::min();
  a[1] = std::numeric_limits<T>::max();
  std::ranges::replace(b, T{0}, T{3});
  for (const IntegerCase<T>& each : cases) {
    SCOPED_TRACE(type + ": " + each.expression);
    const std::vector<T> c = evaluate<T>(type, type, each.expression, a, b);
    expect_equal(c, [&](std::size_t i) { return each.host(a[i], b[i]); });
  }
}

template <typename T>
void check_common_integers(const std::string& type) {
  using U = std::make_unsigned_t<T>;
  check_integers<T>(type,
                    {{"a + b", [](T a, T b) { return static_cast<T>(U(a) + U(b)); }},
                     {"a - b", [](T a, T b) { return static_cast<T>(U(a) - U(b)); }},
                     {"a * b", [](T a, T b) { return static_cast<T>(std::uint64_t(U(a)) * U(b)); }},
                     {"(a & b) | (a ^ ~b)", [](T a, T b) { return static_cast<T>((a & b) | (a ^ ~b)); }},
                     {"-a", [](T a, T) { return static_cast<T>(U{0} - U(a)); }},
                     {"min(a, b)", [](T a, T b) { return std::min(a, b); }},
                     {"max(a, b)", [](T a, T b) { return std::max(a, b); }},
                     {"a < b ? a : b - a", [](T a, T b) { return a < b ? a : static_cast<T>(U(b) - U(a)); }},
                     {"a >> 3", [](T a, T) { return static_cast<T>(a >> 3); }},
                     {"a << 3", [](T a, T) { return static_cast<T>(U(a) << 3U); }}});
}

TEST(ArithmeticTest, IntegersOfEveryWidthWrap) {
  check_common_integers<std::int8_t>("int8_t");
  check_common_integers<std::uint8_t>("uint8_t");
  check_common_integers<std::int16_t>("int16_t");
  check_common_integers<std::uint16_t>("uint16_t");
  check_common_integers<std::int32_t>("int");
  check_common_integers<std::uint32_t>("uint");
  check_common_integers<std::int64_t>("int64_t");
  check_common_integers<std::uint64_t>("uint64_t");
}

TEST(ArithmeticTest, IntegersDivide) {
  const auto divide = [](std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(std::int64_t{a} / b);
  };
  check_integers<std::int32_t>("int", {{"a / b", divide}});
  check_integers<std::uint32_t>("uint", {{"a / b", [](std::uint32_t a, std::uint32_t b) { return a / b; }},
                                         {"a % b", [](std::uint32_t a, std::uint32_t b) { return a % b; }}});
  check_integers<std::uint64_t>("uint64_t",
                                {{"a / b", [](std::uint64_t a, std::uint64_t b) { return a / b; }},
                                 {"a % b", [](std::uint64_t a, std::uint64_t b) { return a % b; }}});
}

TEST(ArithmeticTest, DivisionsWithoutADefinedResultDoNotTrap) {
  const std::vector<std::int32_t> a(kCount, std::numeric_limits<std::int32_t>::min());
  std::vector<std::int32_t> b(kCount, 0);
  b[1] = -1;
  for (const char* expression : {"a / b", "a % b"}) {
    EXPECT_EQ(evaluate<std::int32_t>("int", "int", expression, a, b).size(), kCount);
  }
}

TEST(ArithmeticTest, BitsAreCountedFoundAndMoved) {
  const auto low = [](std::uint32_t a) {
    return a == 0 ? ~0U : static_cast<std::uint32_t>(std::countr_zero(a));
  };
  check_integers<std::uint32_t>(
      "uint",
      {{"uint(bitCount(a))", [](std::uint32_t a, std::uint32_t) { return std::uint32_t(std::popcount(a)); }},
       {"uint(findLSB(a & 0xF0u))", [&](std::uint32_t a, std::uint32_t) { return low(a & 0xF0U); }},
       {"uint(findMSB(a >> (b & 31u)))",
        [](std::uint32_t a, std::uint32_t b) {
          return 31U - std::uint32_t(std::countl_zero(a >> (b & 31U)));
        }},
       {"bitfieldReverse(bitfieldReverse(a))", [](std::uint32_t a, std::uint32_t) { return a; }},
       {"bitfieldExtract(a, 5, 7)", [](std::uint32_t a, std::uint32_t) { return (a >> 5U) & 127U; }},
       {"bitfieldExtract(a, 5, 0)", [](std::uint32_t, std::uint32_t) { return 0U; }},
       {"bitfieldExtract(a, 0, 32)", [](std::uint32_t a, std::uint32_t) { return a; }},
       {"bitfieldInsert(a, b, 4, 8)",
        [](std::uint32_t a, std::uint32_t b) { return (a & ~0xFF0U) | ((b & 0xFFU) << 4U); }},
       {"bitfieldInsert(a, b, 4, 0)", [](std::uint32_t a, std::uint32_t) { return a; }}});
  check_integers<std::int32_t>(
      "int", {{"bitfieldExtract(a, 5, 7)",
               [](std::int32_t a, std::int32_t) {
                 return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) << 20U) >> 25;
               }},
              {"findMSB(a)",
               [](std::int32_t a, std::int32_t) {
                 return 31 - std::countl_zero(static_cast<std::uint32_t>(a < 0 ? ~a : a));
               }},
              {"sign(a) + abs(b % 7) * 0", [](std::int32_t a, std::int32_t) {
                 return a > 0 ? 1 : a < 0 ? -1 : 0;
               }}});
}

TEST(ArithmeticTest, WideProductsAndCarries) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<std::uint32_t> a = random.integers<std::uint32_t>(kCount);
  std::vector<std::uint32_t> b = random.integers<std::uint32_t>(kCount);
  std::vector<std::uint32_t> c(std::size_t{kCount} * 6);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) readonly buffer BlockA { uint A[]; };
layout(binding=1) readonly buffer BlockB { uint B[]; };
layout(binding=2) buffer BlockC { uint C[]; };
void main() {
  uint i = gl_GlobalInvocationID.x, high, low, carry, borrow; int shigh, slow;
  umulExtended(A[i], B[i], high, low);
  imulExtended(int(A[i]), int(B[i]), shigh, slow);
  uint sum = uaddCarry(A[i], B[i], carry);
  uint rest = usubBorrow(A[i], B[i], borrow);
  C[i*6] = high; C[i*6+1] = low; C[i*6+2] = uint(shigh); C[i*6+3] = carry; C[i*6+4] = borrow; C[i*6+5] = sum - rest;
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(a), buffer_of(b), buffer_of(c)});
  expect_equal(c, [&](std::size_t at) -> std::uint32_t {
    const std::uint32_t x = a[at / 6];
    const std::uint32_t y = b[at / 6];
    const std::uint64_t product = std::uint64_t{x} * y;
    const auto signed_product = std::int64_t{static_cast<std::int32_t>(x)} * static_cast<std::int32_t>(y);
    const std::uint32_t expected[] = {
        static_cast<std::uint32_t>(product >> 32U),
        static_cast<std::uint32_t>(product),
        static_cast<std::uint32_t>(static_cast<std::uint64_t>(signed_product) >> 32U),
        x + y < x ? 1U : 0U,
        x < y ? 1U : 0U,
        (x + y) - (x - y)};
    return expected[at % 6];
  });
}

struct RealCase {
  std::string expression;
  std::function<double(double, double)> host;
  double relative = 1e-6;
  double absolute = 1e-6;
};

template <typename T>
void check_reals(const std::string& type, const std::vector<RealCase>& cases, T low, T high, double factor) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  const std::vector<T> a = random.reals<T>(kCount, low, high);
  const std::vector<T> b = random.reals<T>(kCount, low, high);
  for (const RealCase& each : cases) {
    SCOPED_TRACE(type + ": " + each.expression);
    const std::vector<T> c = evaluate<T>(type, type, each.expression, a, b);
    expect_close(
        c, [&](std::size_t i) { return each.host(static_cast<double>(a[i]), static_cast<double>(b[i])); },
        each.absolute * factor, each.relative * factor);
  }
}

std::vector<RealCase> common_reals() {
  return {{"a + b * a", [](double a, double b) { return a + b * a; }},
          {"a - b", [](double a, double b) { return a - b; }},
          {"a / b", [](double a, double b) { return a / b; }},
          {"-a", [](double a, double) { return -a; }},
          {"mod(a, b)", [](double a, double b) { return a - b * std::floor(a / b); }, 1e-6, 1e-5},
          {"min(a, b) + max(a, b)", [](double a, double b) { return a + b; }},
          {"clamp(a, 1.0, 2.0)", [](double a, double) { return std::clamp(a, 1.0, 2.0); }},
          {"mix(a, b, 0.25)", [](double a, double b) { return 0.75 * a + 0.25 * b; }},
          {"step(a, b)", [](double a, double b) { return b < a ? 0.0 : 1.0; }},
          {"smoothstep(1.0, 3.0, a)",
           [](double a, double) {
             const double t = std::clamp((a - 1) / 2, 0.0, 1.0);
             return t * t * (3 - 2 * t);
           }},
          {"floor(a) + ceil(b)", [](double a, double b) { return std::floor(a) + std::ceil(b); }},
          {"trunc(a) + roundEven(b)", [](double a, double b) { return std::trunc(a) + std::nearbyint(b); }},
          {"fract(a)", [](double a, double) { return a - std::floor(a); }},
          {"abs(a - b) + sign(a - b)",
           [](double a, double b) {
             return std::abs(a - b) + (a > b ? 1 : a < b ? -1 : 0);
           }},
          {"sqrt(a)", [](double a, double) { return std::sqrt(a); }},
          {"inversesqrt(a)", [](double a, double) { return 1 / std::sqrt(a); }},
          {"fma(a, b, a)", [](double a, double b) { return a * b + a; }},
          {"isnan(a / 0.0) || isinf(b) ? 1.0 : 2.0", [](double, double) { return 2.0; }},
          {"a < b ? a : (a >= 2.0 ? 2.0 : b)", [](double a, double b) {
             return a < b ? a : a >= 2.0 ? 2.0 : b;
           }}};
}

TEST(ArithmeticTest, FloatsOf32Bits) {
  check_reals<float>("float", common_reals(), 0.5F, 4.0F, 1);
}
TEST(ArithmeticTest, FloatsOf64Bits) {
  check_reals<double>("double", common_reals(), 0.5, 4.0, 1e-7);
}

TEST(ArithmeticTest, MathematicalFunctions) {
  check_reals<float>(
      "float",
      {{"sin(a)", [](double a, double) { return std::sin(a); }, 0, 1e-5},
       {"cos(a)", [](double a, double) { return std::cos(a); }, 0, 1e-5},
       {"tan(a * 0.3)", [](double a, double) { return std::tan(a * 0.3); }, 1e-5, 1e-5},
       {"asin(a * 0.25)", [](double a, double) { return std::asin(a * 0.25); }, 1e-5, 1e-5},
       {"acos(a * 0.25)", [](double a, double) { return std::acos(a * 0.25); }, 1e-5, 1e-5},
       {"atan(a)", [](double a, double) { return std::atan(a); }, 1e-5, 1e-5},
       {"atan(a - 2.0, b - 2.0)", [](double a, double b) { return std::atan2(a - 2, b - 2); }, 1e-5, 1e-5},
       {"sinh(a)", [](double a, double) { return std::sinh(a); }, 1e-5},
       {"cosh(a)", [](double a, double) { return std::cosh(a); }, 1e-5},
       {"tanh(a)", [](double a, double) { return std::tanh(a); }, 1e-5},
       {"asinh(a)", [](double a, double) { return std::asinh(a); }, 1e-5},
       {"acosh(a + 1.0)", [](double a, double) { return std::acosh(a + 1); }, 1e-5},
       {"atanh(a * 0.2)", [](double a, double) { return std::atanh(a * 0.2); }, 1e-5},
       {"pow(a, b)", [](double a, double b) { return std::pow(a, b); }, 1e-5},
       {"exp(a)", [](double a, double) { return std::exp(a); }, 1e-6},
       {"log(a)", [](double a, double) { return std::log(a); }, 1e-6, 1e-6},
       {"exp2(a)", [](double a, double) { return std::exp2(a); }, 1e-6},
       {"log2(a)", [](double a, double) { return std::log2(a); }, 1e-6, 1e-6},
       {"radians(a) + degrees(b)", [](double a, double b) { return a * M_PI / 180 + b * 180 / M_PI; }, 1e-6}},
      0.5F, 3.9F, 1);
}

TEST(ArithmeticTest, ExponentsAreTakenApartAndPutTogether) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  std::vector<float> a = random.reals<float>(kCount, -100, 100);
  std::vector<float> c(std::size_t{kCount} * 4);
  const TestKernel kernel(compile_glsl(R"(
layout(local_size_x = 64) in;
layout(binding=0) readonly buffer BlockA { float A[]; };
layout(binding=1) buffer BlockC { vec4 C[]; };
void main() {
  uint i = gl_GlobalInvocationID.x; float whole; int exponent;
  float rest = modf(A[i], whole);
  float significand = frexp(A[i], exponent);
  C[i] = vec4(whole, rest, significand, ldexp(significand, exponent));
})"));
  kernel.run({.x = kCount / 64}, {buffer_of(a), buffer_of(c)});
  expect_close(
      c,
      [&](std::size_t at) {
        const auto x = static_cast<double>(a[at / 4]);
        int exponent = 0;
        const double expected[] = {std::trunc(x), x - std::trunc(x), std::frexp(x, &exponent), x};
        return expected[at % 4];
      },
      0, 0);
}

TEST(ArithmeticTest, ConversionsBetweenWidths) {
  Random random;
  SCOPED_TRACE("seed " + std::to_string(random.seed()));
  const std::vector<float> a = random.reals<float>(kCount, -100, 100);
  const auto host = [&](std::size_t i) { return static_cast<double>(a[i]); };
  expect_close(evaluate<double>("float", "double", "double(a)", a, a), host, 0, 0);
  expect_equal(evaluate<std::int32_t>("float", "int", "int(a)", a, a), host);
  expect_equal(evaluate<std::int64_t>("float", "int64_t", "int64_t(a)", a, a), host);
  expect_equal(evaluate<std::uint32_t>("float", "uint", "uint(abs(a))", a, a),
               [&](std::size_t i) { return std::abs(host(i)); });
  expect_equal(evaluate<std::int8_t>("float", "int8_t", "int8_t(int(a))", a, a), host);
  expect_close(evaluate<float>("float", "float", "float(float16_t(a))", a, a), host, 0, 1e-3);
  expect_close(
      evaluate<float>("float", "float", "float(float16_t(a) * float16_t(0.5) + float16_t(b))", a, a),
      [&](std::size_t i) { return host(i) * 1.5; }, 1e-3, 2e-3);
  expect_equal(evaluate<std::uint32_t>("float", "uint", "floatBitsToUint(a)", a, a),
               [&](std::size_t i) { return std::bit_cast<std::uint32_t>(a[i]); });
  expect_close(evaluate<float>("float", "float", "unpackHalf2x16(packHalf2x16(vec2(b, a))).y", a, a), host, 0,
               1e-3);
  expect_close(
      evaluate<float>("float", "float", "unpackSnorm4x8(packSnorm4x8(vec4(a * 0.01))).z", a, a),
      [&](std::size_t i) { return host(i) * 0.01; }, 0.005, 0);
  expect_close(
      evaluate<float>("float", "float", "unpackUnorm2x16(packUnorm2x16(vec2(a * 0.01))).x", a, a),
      [&](std::size_t i) { return std::max(host(i) * 0.01, 0.0); }, 1e-4, 0);
}

}  // namespace
}  // namespace backplane::translator::test
// NOLINTEND(modernize-use-designated-initializers)
