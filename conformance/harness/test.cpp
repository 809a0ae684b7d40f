#include "harness/test.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "harness/location.h"

namespace backplane::conformance {
namespace {

constexpr std::size_t kGuardBytes = 256;  // a multiple of every device's buffer alignment
constexpr std::byte kPoison{0xcd};

std::string current_test() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  return std::string(test->test_suite_name()) + "." + test->name();
}

}  // namespace

Test::Test()
    : random(seed_for(current_test())),
      trace_(__FILE__, __LINE__, "seed " + std::to_string(seed_for(current_test()))) {}

std::vector<float> Test::random_floats(std::size_t count) {
  std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return distribution(random); });
  return values;
}

std::vector<std::uint32_t> Test::random_words(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::ranges::generate(values, [&] { return static_cast<std::uint32_t>(random()); });
  return values;
}

GuardedBuffer::GuardedBuffer(const Client& client, std::size_t size_bytes, const std::string& label)
    : client_(client),
      whole_(client.empty<std::byte>(size_bytes + 2 * kGuardBytes, label)),
      buffer_(whole_.slice(kGuardBytes, size_bytes)) {
  client.write(whole_, std::vector<std::byte>(whole_.size(), kPoison));
}

void GuardedBuffer::expect_guards_intact() const {
  const Result<std::vector<std::byte>> bytes = client_.read(whole_);
  ASSERT_TRUE(bytes) << bytes.error();
  const std::span<const std::byte> all(*bytes);
  EXPECT_THAT(all.first(kGuardBytes), ::testing::Each(kPoison)) << "written before the buffer";
  EXPECT_THAT(all.last(kGuardBytes), ::testing::Each(kPoison)) << "written past the buffer";
}

void expect_close(std::span<const float> actual, std::span<const double> exact, Tolerance tolerance) {
  ASSERT_EQ(actual.size(), exact.size());
  double difference_squares = 0;
  double exact_squares = 0;
  double worst = 0;
  std::size_t worst_at = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double difference = static_cast<double>(actual[i]) - exact[i];
    difference_squares += difference * difference;
    exact_squares += exact[i] * exact[i];
    const double relative = std::abs(difference) / std::max(1.0, std::abs(exact[i]));
    if (!(relative <= worst)) {  // also where it is no number
      worst = relative;
      worst_at = i;
    }
  }
  EXPECT_LE(std::sqrt(difference_squares), tolerance.relative_norm * std::sqrt(exact_squares));
  EXPECT_LE(worst, tolerance.worst) << "element " << worst_at << ": " << actual[worst_at] << " instead of "
                                    << exact[worst_at];
}

Kernel installed_kernel(const std::string& name) {
  const std::filesystem::path path = kernel_directory() / (name + ".spv");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("The suite's kernel " + path.string() + " is missing; install the suite whole.");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  return Kernel::from_spirv(name, words).value();
}

}  // namespace backplane::conformance
