#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "table.h"

namespace backplane::bench {
namespace {

constexpr int kLoadingRounds = 21;  // each is one cold load, in a process of its own

/// What the probe beside this program prints.
double probe(const std::string& what) {
  const std::filesystem::path directory = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string command = (directory / "backplane_loading_probe").string() + " " + what;
  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(popen(command.c_str(), "r"));
  double value = 0;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &value) != 1) {
    throw std::runtime_error("\"" + command + "\" measures nothing");
  }
  return value;
}

std::vector<Row> loading() {
  const auto times =
      interleave({[] { return probe("checked"); }, [] { return probe("bare"); }}, kLoadingRounds);
  const Row load = compare({.id = "20.1",
                            .what = "loading a plugin, checks included",
                            .unit = "us",
                            .baseline_name = "dlopen + dlsym",
                            .budget = 2},
                           times[0], times[1]);
  const double opened = probe("listing");
  return {load,
          {.id = "20.2",
           .what = "plugins opened by listing them",
           .unit = "count",
           .figure = opened,
           .baseline_name = "none",
           .ratio = opened,
           .budget = 0}};
}

const Registration kLoading("20", "loading a plugin", loading);

}  // namespace
}  // namespace backplane::bench
