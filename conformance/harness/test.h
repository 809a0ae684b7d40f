#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/device.h"

namespace backplane::conformance {

/// Base of every test: random input that differs from run to run and is printed when a test fails. Restart
/// with
/// `--seed` to see a failure again.
class Test : public ::testing::Test {
 protected:
  Test();

  /// Uniform in [-1, 1).
  std::vector<float> random_floats(std::size_t count);
  std::vector<std::uint32_t> random_words(std::size_t count);

  const Client& client = device();
  std::mt19937_64 random;

 private:
  ::testing::ScopedTrace trace_;
};

/// A buffer between two guards. Everything is poisoned to begin with, so that what is not written shows, and
/// so does what is written beside it.
class GuardedBuffer {
 public:
  GuardedBuffer(const Client& client, std::size_t size_bytes, const std::string& label);

  template <class T>
  [[nodiscard]] Buffer<T> as() const {
    return Buffer<T>(buffer_);
  }

  /// Fails the test if a guard changed.
  void expect_guards_intact() const;

 private:
  const Client& client_;
  Buffer<std::byte> whole_;
  BufferHandle buffer_;
};

/// How far a computed value may be from the exact one.
struct Tolerance {
  double relative_norm;  ///< Of the difference, by the norm of the exact values.
  double worst;          ///< Of any element, by the larger of its exact magnitude and 1.
};

/// Compares with what the host computed in higher precision, by norm and by worst element.
void expect_close(std::span<const float> actual, std::span<const double> exact, Tolerance tolerance);

/// The SPIR-V of a kernel installed with the suite, by name without ending.
Kernel installed_kernel(const std::string& name);

}  // namespace backplane::conformance
