#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <backplane/contract/translator.h>

namespace backplane::translator::test {

/// The table of the translator's shared object, opened as the host opens it.
const TranslatorApi& api();

using Words = std::vector<std::uint32_t>;

/// SPIR-V of GLSL text, of version 1.3 with the version and extension lines put in front. Fails the test on
/// an error.
Words compile_glsl(const std::string& body, bool with_debug = false);

/// SPIR-V of assembly text. Fails the test on an error.
Words assemble(const std::string& text);

/// An answer of the translator, released at the end.
class Output {
 public:
  explicit Output(TranslationOutput output) : output_(output) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { api().release(&output_); }

  bool is_ok() const { return output_.error == nullptr; }
  std::string error() const { return is_ok() ? "" : output_.error; }
  bool is_unsupported() const { return output_.unsupported == 1; }
  std::span<const std::byte> bytes() const { return {output_.data, output_.byte_count}; }
  std::string text() const { return {reinterpret_cast<const char*>(output_.data), output_.byte_count}; }

 private:
  TranslationOutput output_;
};

TranslationRequest request_for(const Words& words, std::uint32_t optimization = 3);
std::unique_ptr<Output> lower(const Words& words);
std::unique_ptr<Output> generate(const TranslationRequest& request, const Output& lowered);

/// A linked kernel, and what it was made of.
class TestKernel {
 public:
  /// Fails the test where the module cannot be translated.
  explicit TestKernel(const Words& words, std::uint32_t optimization = 3);
  TestKernel(const TestKernel&) = delete;
  TestKernel& operator=(const TestKernel&) = delete;
  ~TestKernel();

  struct Groups {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
  };

  /// Runs a launch of `groups` on the buffers, by binding.
  void run(Groups groups, const std::vector<HostBuffer>& buffers, const void* scalars = nullptr) const;
  /// The same for part of the workgroups.
  void run_range(Groups groups, const std::vector<HostBuffer>& buffers, std::uint64_t begin,
                 std::uint64_t end) const;

  const HostKernelInfo& info() const { return info_; }
  std::string assembly() const;
  std::string ir() const;

 private:
  Words words_;
  TranslationRequest request_{};
  std::unique_ptr<Output> lowered_;
  std::unique_ptr<Output> object_;
  void* handle_ = nullptr;
  HostKernelInfo info_{};
};

template <typename T>
HostBuffer buffer_of(std::vector<T>& values) {
  return {.data = values.data(), .byte_count = values.size() * sizeof(T)};
}

/// Fails the test at the first element that is off by more than `absolute` + `relative` * |expected|.
template <typename T, typename Expected>
void expect_close(const std::vector<T>& actual, const Expected& expected, double absolute, double relative) {
  for (std::size_t index = 0; index < actual.size(); ++index) {
    const auto wanted = static_cast<double>(expected(index));
    const auto found = static_cast<double>(actual[index]);
    const bool is_same = found == wanted || (std::isnan(found) && std::isnan(wanted));
    ASSERT_TRUE(is_same || std::abs(found - wanted) <= absolute + relative * std::abs(wanted))
        << "element " << index << " is " << found << " and should be " << wanted;
  }
}

/// Fails the test at the first element that differs.
template <typename T, typename Expected>
void expect_equal(const std::vector<T>& actual, const Expected& expected) {
  for (std::size_t index = 0; index < actual.size(); ++index) {
    ASSERT_EQ(actual[index], static_cast<T>(expected(index))) << "element " << index;
  }
}

/// Random numbers whose seed is printed with a failure, another in every run unless one is given;
/// BACKPLANE_TEST_SEED repeats one.
class Random {
 public:
  Random();
  explicit Random(std::uint32_t seed);

  std::uint32_t seed() const { return seed_; }
  template <typename T>
  std::vector<T> reals(std::size_t count, T low, T high) {
    std::uniform_real_distribution<T> distribution(low, high);
    std::vector<T> values(count);
    for (T& each : values) {
      each = distribution(engine_);
    }
    return values;
  }
  template <typename T>
  std::vector<T> integers(std::size_t count) {
    std::vector<T> values(count);
    for (T& each : values) {
      each = static_cast<T>(engine_());
    }
    return values;
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::uint32_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace backplane::translator::test
