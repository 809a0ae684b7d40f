#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <backplane/version.h>

#include "harness/device.h"

namespace {

constexpr int kUnusable = 2;

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);  // takes its own flags out

  backplane::conformance::Options options;
  std::string filter;
  CLI::App app("Judges a Backplane plugin: every rule of the contract that it must keep is a test.");
  app.set_version_flag("--version", std::string(backplane::version()));
  app.add_option("--plugin", options.plugin, "Manifest, library or directory of the plugin")->required();
  app.add_option("--device", options.device, "Index of the device among the plugin's")->capture_default_str();
  app.add_option("--filter", filter, "Tests to run, as GoogleTest's filter: Memory*, -Launch*");
  options.seed = std::random_device{}();
  app.add_option("--seed", options.seed, "Seed of the random input; a failing test prints its own");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUnusable;
  }
  if (!filter.empty()) GTEST_FLAG_SET(filter, filter);

  if (::testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (const backplane::Result<void> opened = backplane::conformance::open_device(options); !opened) {
    std::cerr << opened.error() << '\n';
    return kUnusable;
  }
  std::cout << "Device " << backplane::conformance::device().name() << ", "
            << backplane::conformance::device().properties().name << "; seed " << options.seed << '\n';
  const int result = RUN_ALL_TESTS();
  backplane::conformance::close_device();
  return result;
}
