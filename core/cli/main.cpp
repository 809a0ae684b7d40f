#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include <backplane/version.h>

#include "commands.h"

namespace {

using backplane::cli::CommandOptions;

constexpr const char* kExitCodes =
    "Exit status: 0 success; 1 with --strict, if a plugin was refused or failed or a place could not be "
    "searched; "
    "2 wrong usage; 3 the command could not be carried out.";

void add_common(CLI::App& command, CommandOptions& options) {
  command.add_flag("--json", options.json, "Print JSON");
  command.add_option("--plugins", options.plugins, "Directory, manifest or library to look at first");
  command.add_flag("--allow-untrusted", options.allow_untrusted,
                   "Accept plugins that others than root and you could have written");
}

int run(int argument_count, char** arguments) {
  CLI::App app("Lists and checks the plugins and devices of Backplane.", "backplane");
  app.footer(kExitCodes);
  app.set_version_flag("--version", "backplane " + std::string(backplane::version()));
  app.require_subcommand(1);
  CommandOptions options;
  int status = backplane::cli::success;

  CLI::App* info =
      app.add_subcommand("info", "Load every plugin found; show what became of it, and its devices");
  add_common(*info, options);
  info->add_flag("--strict", options.strict, "Exit with 1 if anything was refused or failed");
  info->callback([&] { status = backplane::cli::info(options); });

  CLI::App* plugins =
      app.add_subcommand("plugins", "List plugins from their manifests; runs no code of theirs");
  add_common(*plugins, options);
  plugins->add_flag("--strict", options.strict, "Exit with 1 if anything was refused");
  plugins->callback([&] { status = backplane::cli::plugins(options); });

  CLI::App* config = app.add_subcommand("config", "Show every configuration key, its value and its origin");
  add_common(*config, options);
  config->callback([&] { status = backplane::cli::config(options); });

  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? backplane::cli::success : backplane::cli::bad_usage;
  }
  return status;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const std::exception& exception) {
    std::cerr << "backplane: " << exception.what() << '\n';
    return backplane::cli::failure;
  }
}
