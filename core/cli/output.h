#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/runtime.h>

// What the commands print, for people (text_output.cpp) and for programs (json_output.cpp).

namespace backplane::cli {

void print_info(std::ostream& out, const RuntimeReport& report);
void print_plugins(std::ostream& out, const RuntimeReport& report);
void print_configuration(std::ostream& out, const std::vector<ConfigurationEntry>& entries);

void print_report_json(std::ostream& out, const RuntimeReport& report);
void print_configuration_json(std::ostream& out, const std::vector<ConfigurationEntry>& entries);

/// "discrete GPU".
[[nodiscard]] std::string_view name_of(DeviceKind kind) noexcept;

}  // namespace backplane::cli
