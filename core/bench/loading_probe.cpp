// One cold load in a process of its own; prints what it measured. Usage: backplane_loading_probe
// bare|checked|listing
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include <backplane/contract/plugin.h>
#include <backplane/runtime.h>

#include "baselines.h"
#include "plugin/registry.h"
#include "runtime/runtime_state.h"

namespace {

using namespace backplane;
using bench::Clock;
using bench::nanoseconds_since;

std::filesystem::path plugin_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
         "lib/backplane/plugins";
}

Runtime open_runtime() {
  RuntimeOptions options;
  options.plugins = {plugin_directory() / "cpu.plugin.toml"};
  return Runtime::open(std::move(options)).value();
}

/// Microseconds of opening the library and finding its entry point.
double load_bare() {
  const std::string path = plugin_directory() / "libbackplane_cpu.so";
  const auto start = Clock::now();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || dlsym(library, kPluginEntryPoint) == nullptr) std::exit(EXIT_FAILURE);
  return nanoseconds_since(start) / 1000;
}

/// Microseconds of everything between the manifest and a plugin that runs.
double load_checked() {
  const Runtime runtime = open_runtime();
  const auto start = Clock::now();
  if (!runtime.state()->plugins().load("cpu")) std::exit(EXIT_FAILURE);
  return nanoseconds_since(start) / 1000;
}

/// Plugins that are in the process after they were listed.
double opened_by_listing() {
  const Runtime runtime = open_runtime();
  if (runtime.listing().plugins.empty()) std::exit(EXIT_FAILURE);
  std::ifstream maps("/proc/self/maps");
  double opened = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libbackplane_cpu") != std::string::npos) ++opened;
  }
  return opened;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "bare") {
    std::cout << load_bare() << "\n";
  } else if (what == "checked") {
    std::cout << load_checked() << "\n";
  } else if (what == "listing") {
    std::cout << opened_by_listing() << "\n";
  } else {
    std::cerr << "Usage: backplane_loading_probe bare|checked|listing\n";
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
