#include "instructions.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>
#include <stdexcept>

namespace backplane::bench {
namespace {

constexpr int kRepeats = 2000;

std::string output_of(const std::string& command) {
  const auto close = [](std::FILE* stream) { static_cast<void>(pclose(stream)); };
  const std::unique_ptr<std::FILE, decltype(close)> stream(popen(command.c_str(), "r"), close);
  if (stream == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), stream.get()) != nullptr) text += part.data();
  return text;
}

double number_after(const std::string& text, const std::string& pattern) {
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(pattern + "([0-9]+)"))) {
    throw std::runtime_error("cannot be counted; is valgrind installed?");
  }
  return std::stod(match[1]);
}

/// The output of a run, which stands beside this program.
std::string count(const std::string& prefix, const std::string& scenario, int repeats) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return output_of(prefix + " \"" + (self.parent_path() / "backplane_count").string() + "\" " + scenario +
                   ' ' + std::to_string(repeats) + " 2>&1");
}

double instructions(const std::string& scenario, int repeats) {
  return number_after(count("valgrind --tool=callgrind --callgrind-out-file=/dev/null", scenario, repeats),
                      "Collected : ");
}

}  // namespace

Row instruction_row(Row row, const std::string& scenario) {
  // Two lengths, so that starting and ending the program cancel out.
  const double each = (instructions(scenario, 2 * kRepeats) - instructions(scenario, kRepeats)) / kRepeats;
  row.unit = "";
  row.baseline_name = "1";
  return compare(std::move(row), {each}, {1});
}

Row heap_row(Row row, const std::string& scenario) {
  const double allocations = number_after(count("", scenario, kRepeats), "heap ") / kRepeats;
  row.baseline_name = "1";
  return compare(std::move(row), {allocations}, {1});
}

}  // namespace backplane::bench
