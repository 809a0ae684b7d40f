#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

/// What the surroundings of the process say, taken once: a value, so that tests can make up their own.
struct ProcessContext {
  /// The process runs with more rights than whoever started it (set-user-id, set-group-id, file
  /// capabilities): nothing that its caller controls may steer it.
  bool secure = false;

  /// Variables that begin with BACKPLANE_ or XDG_, and HOME. Empty where `secure`.
  std::map<std::string, std::string, std::less<>> environment;

  std::filesystem::path working_directory;  ///< Empty if it is gone, and where `secure`.

  static ProcessContext current();

  /// The variable's value; nothing if it is not set or empty.
  [[nodiscard]] std::optional<std::string> variable(std::string_view name) const;

  /// `$XDG_CONFIG_HOME` and `$XDG_DATA_HOME` with their usual defaults; empty where there is no home.
  [[nodiscard]] std::filesystem::path config_home() const;
  [[nodiscard]] std::filesystem::path data_home() const;
};

}  // namespace backplane
