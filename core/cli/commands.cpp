#include "commands.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include <backplane/runtime.h>

#include "output.h"
#include "table.h"

namespace backplane::cli {
namespace {

/// Plugins' troubles are in the report; what is odd about the configuration is nowhere else.
void complain(const LogRecord& record) {
  if (record.category == "config") std::cerr << "backplane: " << printable(record.message) << '\n';
}

Result<Runtime> open(const CommandOptions& options) {
  auto runtime = Runtime::open({.plugins = options.plugins,
                                .configuration = {},
                                .log_callback = complain,
                                .translator = {},
                                .allow_untrusted = options.allow_untrusted});
  if (!runtime) std::cerr << "backplane: " << runtime.error() << '\n';
  return runtime;
}

bool is_clean(const RuntimeReport& report) {
  return std::ranges::none_of(report.plugins,
                              [](const PluginReport& plugin) {
                                return plugin.state == PluginState::refused ||
                                       plugin.state == PluginState::failed;
                              }) &&
         std::ranges::all_of(report.places, [](const PluginPlace& place) { return place.problem.empty(); });
}

ExitCode show(const CommandOptions& options, const RuntimeReport& report,
              void (*print)(std::ostream&, const RuntimeReport&)) {
  (options.json ? print_report_json : print)(std::cout, report);
  return options.strict && !is_clean(report) ? not_clean : success;
}

}  // namespace

ExitCode info(const CommandOptions& options) {
  const auto runtime = open(options);
  return runtime ? show(options, runtime->report(), print_info) : failure;
}

ExitCode plugins(const CommandOptions& options) {
  const auto runtime = open(options);
  return runtime ? show(options, runtime->listing(), print_plugins) : failure;
}

ExitCode config(const CommandOptions& options) {
  const auto runtime = open(options);
  if (!runtime) return failure;
  (options.json ? print_configuration_json : print_configuration)(std::cout, runtime->configuration());
  return success;
}

}  // namespace backplane::cli
