#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <backplane/contract/result.h>

#include "config/process_context.h"

namespace backplane {

struct ConfigKey;
struct TomlEntry;

/// Where a value in effect came from, the weakest first.
enum class ConfigSource : std::uint8_t { preset, file, environment, code };

using ConfigValue = std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>>;

/// A key's value in effect.
struct ConfigSetting {
  std::string key;
  ConfigValue value;  ///< `monostate` where it is not set.
  ConfigSource source = ConfigSource::preset;
  std::string origin = "default";  ///< "default", "FILE:LINE", the variable's name, or "code".
};

/// What the configuration is put together from.
struct ConfigInputs {
  ProcessContext process;
  std::map<std::string, std::string> code;            ///< By key; the strongest.
  std::vector<std::filesystem::path> system_files{};  ///< The first that exists is read, if no other was.
};

/// The configuration in effect: for each key the strongest of code, environment, file and default. Immutable,
/// any thread.
class Configuration {
 public:
  /// Finds and reads the file (`BACKPLANE_CONFIG`, else the first found from the working directory upwards,
  /// else the user's, else the system's) and puts the values together. Errors: `configuration_invalid` for an
  /// unknown key, a wrong type or a bad value, saying where it stands and what was probably meant;
  /// `not_found` where `BACKPLANE_CONFIG` names no readable file.
  static Result<Configuration> load(const ConfigInputs& inputs);

  /// The value as text, as the environment would spell it; nothing if it is not set or the key is unknown.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  /// Nothing if the value is not set or of another type. Bytes are integers.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key) const;
  [[nodiscard]] std::optional<bool> boolean(std::string_view key) const;
  /// Empty if it is not set or no list.
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const;

  /// The categories that have a `[log.CATEGORY]` table, by name.
  [[nodiscard]] std::vector<std::string> log_categories() const;

  /// Every key, by name; those of the log for the categories that are configured.
  [[nodiscard]] std::vector<ConfigSetting> settings() const;

  /// The file that was read; empty if there is none.
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return file_; }

  /// What was ignored and why, for the log.
  [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
  Result<void> read_file(const std::filesystem::path& file, const ProcessContext& process);
  Result<void> add_entry(const TomlEntry& entry, bool trusted, const std::string& distrust);
  Result<void> read_environment(const ProcessContext& process);
  Result<void> read_code(const std::map<std::string, std::string>& code);
  void add_log_category(std::string_view prefix);
  void set(std::string_view name, ConfigValue value, ConfigSource source, std::string origin);
  [[nodiscard]] const ConfigSetting* find(std::string_view key) const;

  std::map<std::string, ConfigSetting, std::less<>> settings_;
  std::filesystem::path file_;
  std::vector<std::string> notices_;
};

/// The value as the environment would spell it; empty for `monostate`.
[[nodiscard]] std::string to_text(const ConfigKey& key, const ConfigValue& value);

/// The value that `text` spells for `key`. Error: `configuration_invalid`; `where` begins the message.
Result<ConfigValue> parse_config_value(const ConfigKey& key, std::string_view name, std::string_view text,
                                       const std::string& where);

}  // namespace backplane
