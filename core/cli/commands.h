#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace backplane::cli {

/// What the program's exit status says.
enum ExitCode : std::uint8_t {
  success = 0,
  not_clean = 1,  ///< `--strict`, and a plugin was refused or failed, or a place could not be searched.
  bad_usage = 2,  ///< The command line is wrong.
  failure = 3,    ///< The command could not be carried out: a broken configuration, for one.
};

/// What the commands have in common.
struct CommandOptions {
  std::vector<std::filesystem::path> plugins{};  ///< Searched first.
  bool json = false;
  bool strict = false;
  bool allow_untrusted = false;
};

/// Each prints to the standard output and complains on the standard error stream.
ExitCode info(const CommandOptions& options);
ExitCode plugins(const CommandOptions& options);
ExitCode config(const CommandOptions& options);

}  // namespace backplane::cli
