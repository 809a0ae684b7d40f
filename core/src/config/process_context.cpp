#include "config/process_context.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#if defined(__linux__)
#include <sys/auxv.h>
#endif
#include <unistd.h>

namespace backplane {
namespace {

bool runs_with_foreign_rights() {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return getuid() != geteuid() || getgid() != getegid();
#endif
}

std::filesystem::path home_directory(const ProcessContext& context, std::string_view variable,
                                     std::string_view below_home) {
  if (const auto directory = context.variable(variable)) {
    const std::filesystem::path path(*directory);
    if (path.is_absolute()) return path;  // the specification says to ignore a relative one
  }
  const auto home = context.variable("HOME");
  return home ? std::filesystem::path(*home) / below_home : std::filesystem::path();
}

}  // namespace

ProcessContext ProcessContext::current() {
  ProcessContext context;
  context.secure = runs_with_foreign_rights();
  if (context.secure) return context;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    if (name.starts_with("BACKPLANE_") || name.starts_with("XDG_") || name == "HOME") {
      context.environment.emplace(name, text.substr(equals + 1));
    }
  }
  std::error_code gone;
  context.working_directory = std::filesystem::current_path(gone);
  return context;
}

std::optional<std::string> ProcessContext::variable(std::string_view name) const {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

std::filesystem::path ProcessContext::config_home() const {
  return home_directory(*this, "XDG_CONFIG_HOME", ".config");
}

std::filesystem::path ProcessContext::data_home() const {
  return home_directory(*this, "XDG_DATA_HOME", ".local/share");
}

}  // namespace backplane
