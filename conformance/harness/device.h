#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <backplane/client.h>
#include <backplane/runtime.h>

namespace backplane::conformance {

/// What the command line asked for.
struct Options {
  std::string plugin;        ///< A manifest, a library or a directory that holds one plugin.
  std::uint32_t device = 0;  ///< Index among the plugin's devices.
  std::uint64_t seed = 0;    ///< Of the tests' random input.
};

/// Opens the runtime on the plugin alone and a client on the device. Errors: what keeps it from being used.
Result<void> open_device(const Options& options);

/// Lets go of both; called after the last test.
void close_device();

/// The device under test. Requires `open_device`.
const Client& device();

/// A further client of the same device, opened through the runtime.
Result<Client> open_again();

/// A seed of the run's own for one test, printed when the test fails.
std::uint64_t seed_for(const std::string& test);

}  // namespace backplane::conformance
