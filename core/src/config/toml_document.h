#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <backplane/contract/result.h>

namespace backplane {

/// A value that our files have no use for (a date, a mixed array, an empty table), by the name of its type.
struct TomlOther {
  std::string type;
};

/// One value of a TOML file under its full key, "log.memory.level", and where it stands.
struct TomlEntry {
  std::string key;
  std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, TomlOther> value;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// The values of a TOML text in the order of the keys, tables flattened. Any thread. Error:
/// `configuration_invalid`, saying file, line and column; `file` is for that message alone.
Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view file);

/// "FILE:LINE:COLUMN".
[[nodiscard]] std::string position(std::string_view file, const TomlEntry& entry);

/// What kind of value it is, for messages: "an integer".
[[nodiscard]] std::string type_name(const TomlEntry& entry);

}  // namespace backplane
