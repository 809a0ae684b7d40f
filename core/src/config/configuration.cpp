#include "config/configuration.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <backplane/contract/result.h>

#include "config/key_table.h"
#include "config/nearest.h"
#include "config/toml_document.h"
#include "plugin/file_trust.h"

namespace backplane {
namespace {

constexpr std::string_view kFileName = "backplane.toml";
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 20;

/// Variables with a name of their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kShortNames{
    {{"BACKPLANE_DEVICE", "device.default"}, {"BACKPLANE_LAYERS", "layers.enable"}}};

/// Variables that are read elsewhere.
constexpr std::array<std::string_view, 6> kOtherVariables{
    "BACKPLANE_ADD_PLUGINS", "BACKPLANE_ALLOW_UNTRUSTED", "BACKPLANE_BACKTRACE",
    "BACKPLANE_CONFIG",      "BACKPLANE_PLUGINS",         "BACKPLANE_TRANSLATOR"};

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::symlink_status(path, ignored).type() > std::filesystem::file_type::not_found;
}

/// The file that the search ends at; empty if there is none.
std::filesystem::path find_file(const ConfigInputs& inputs) {
  const ProcessContext& process = inputs.process;
  if (const auto named = process.variable("BACKPLANE_CONFIG")) return *named;
  std::filesystem::path directory = process.working_directory;
  while (!directory.empty()) {
    if (is_there(directory / kFileName)) return directory / kFileName;
    if (directory == directory.parent_path()) break;
    directory = directory.parent_path();
  }
  const std::filesystem::path home = process.config_home();
  if (!home.empty() && is_there(home / "backplane" / kFileName)) return home / "backplane" / kFileName;
  const auto system = std::ranges::find_if(inputs.system_files, is_there);
  return system == inputs.system_files.end() ? std::filesystem::path() : *system;
}

Error unknown_key(const std::string& where, std::string_view name) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) names.emplace_back(key.name);
  if (name.starts_with("log.")) {
    const std::size_t dot = name.rfind('.');
    const std::string prefix(dot > 3 ? name.substr(0, dot) : "log.default");
    for (const ConfigKey& key : log_keys()) names.push_back(prefix + "." + std::string(key.name));
  }
  return {ErrorCode::configuration_invalid, where + ": \"" + std::string(name) +
                                                "\" is not a configuration key." + did_you_mean(name, names) +
                                                " \"backplane config\" lists all keys."};
}

std::string_view expected_type(ConfigType type) {
  switch (type) {
    case ConfigType::boolean:
      return "a boolean";
    case ConfigType::integer:
      return "an integer";
    case ConfigType::bytes:
      return "an integer or a string such as \"8 GiB\"";
    case ConfigType::text:
    case ConfigType::choice:
      return "a string";
    case ConfigType::words:
    case ConfigType::patterns:
    case ConfigType::paths:
      return "a list of strings";
  }
  return "another type";
}

Result<ConfigValue> value_of(const ConfigKey& key, const TomlEntry& entry, const std::string& where) {
  if (const auto* boolean = std::get_if<bool>(&entry.value); boolean && key.type == ConfigType::boolean) {
    return ConfigValue(*boolean);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&entry.value);
      integer && (key.type == ConfigType::integer || key.type == ConfigType::bytes)) {
    return parse_config_value(key, entry.key, std::to_string(*integer), where);
  }
  if (const auto* text = std::get_if<std::string>(&entry.value);
      text &&
      (key.type == ConfigType::bytes || key.type == ConfigType::text || key.type == ConfigType::choice)) {
    return parse_config_value(key, entry.key, *text, where);
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value);
      list &&
      (key.type == ConfigType::words || key.type == ConfigType::patterns || key.type == ConfigType::paths)) {
    return ConfigValue(*list);
  }
  return Error(ErrorCode::configuration_invalid, where + ": \"" + entry.key + "\" is " + type_name(entry) +
                                                     "; it must be " + std::string(expected_type(key.type)) +
                                                     ".");
}

/// "BACKPLANE_LOG_MEMORY_LEVEL" -> "log.memory.level"; empty if it is no such variable.
std::string log_key_of(std::string_view variable) {
  constexpr std::string_view kPrefix = "BACKPLANE_LOG_";
  const std::size_t last = variable.rfind('_');
  if (!variable.starts_with(kPrefix) || last <= kPrefix.size()) return {};
  std::string key = "log." + std::string(variable.substr(kPrefix.size(), last - kPrefix.size())) + "." +
                    std::string(variable.substr(last + 1));
  std::ranges::transform(key, key.begin(), [](char character) {
    return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
  });
  return find_config_key(key) != nullptr ? key : std::string();
}

/// The key that a variable sets; empty if it sets none.
std::string key_of(std::string_view variable) {
  for (const auto& [name, key] : kShortNames) {
    if (name == variable) return std::string(key);
  }
  for (const ConfigKey& key : config_keys()) {
    if (environment_name(key.name) == variable) return std::string(key.name);
  }
  return log_key_of(variable);
}

std::string suggestion_for_variable(std::string_view variable) {
  std::vector<std::string> names(kOtherVariables.begin(), kOtherVariables.end());
  for (const auto& [name, key] : kShortNames) names.emplace_back(name);
  for (const ConfigKey& key : config_keys()) names.push_back(environment_name(key.name));
  return did_you_mean(variable, names);
}

/// Relative paths in a file mean the file's own directory, wherever the process happens to stand.
void resolve_against(const std::filesystem::path& file, ConfigValue& value) {
  auto* paths = std::get_if<std::vector<std::string>>(&value);
  if (paths == nullptr) return;
  for (std::string& path : *paths) path = (file.parent_path() / path).lexically_normal().string();
}

}  // namespace

Result<Configuration> Configuration::load(const ConfigInputs& inputs) {
  Configuration configuration;
  for (const ConfigKey& key : config_keys()) {
    ConfigValue value;
    if (!key.default_text.empty()) {
      BACKPLANE_TRY(value, parse_config_value(key, key.name, key.default_text, "default"));
    }
    configuration.set(key.name, std::move(value), ConfigSource::preset, "default");
  }
  configuration.add_log_category("log.default.");
  const std::filesystem::path file = find_file(inputs);
  if (!file.empty()) BACKPLANE_CHECK(configuration.read_file(file, inputs.process));
  BACKPLANE_CHECK(configuration.read_environment(inputs.process));
  BACKPLANE_CHECK(configuration.read_code(inputs.code));
  return configuration;
}

void Configuration::add_log_category(std::string_view prefix) {
  for (const ConfigKey& key : log_keys()) {
    const std::string name = std::string(prefix) + std::string(key.name);
    auto preset = parse_config_value(key, name, key.default_text, "default");
    ConfigValue value = key.default_text.empty() ? ConfigValue() : *std::move(preset);
    settings_.emplace(name, ConfigSetting{.key = name, .value = std::move(value)});
  }
}

void Configuration::set(std::string_view name, ConfigValue value, ConfigSource source, std::string origin) {
  // A category that is mentioned at all gets all its keys, so that what is in effect can be listed.
  if (name.starts_with("log.") && !settings_.contains(name)) {
    add_log_category(name.substr(0, name.rfind('.') + 1));
  }
  settings_.insert_or_assign(std::string(name), ConfigSetting{.key = std::string(name),
                                                              .value = std::move(value),
                                                              .source = source,
                                                              .origin = std::move(origin)});
}

Result<void> Configuration::read_file(const std::filesystem::path& file, const ProcessContext& process) {
  const std::filesystem::path absolute =
      file.is_absolute() ? file : (process.working_directory / file).lexically_normal();
  auto opened = OpenFile::open(absolute);
  if (!opened) {
    return Error(opened.error().code(), "The configuration file cannot be used").caused_by(opened.error());
  }
  BACKPLANE_TRY(const std::string text, opened->read(kLargestFile));
  BACKPLANE_TRY(const std::vector<TomlEntry> entries, parse_toml(text, absolute.string()));
  const std::string distrust = distrust_of(*opened);
  file_ = absolute;
  for (const TomlEntry& entry : entries) BACKPLANE_CHECK(add_entry(entry, distrust.empty(), distrust));
  return {};
}

Result<void> Configuration::add_entry(const TomlEntry& entry, bool trusted, const std::string& distrust) {
  const std::string where = position(file_.string(), entry);
  const ConfigKey* key = find_config_key(entry.key);
  if (key == nullptr) return unknown_key(where, entry.key);
  BACKPLANE_TRY(ConfigValue value, value_of(*key, entry, where));
  const bool runs_code = entry.key.starts_with("plugin.") || entry.key.starts_with("layers.");
  if (runs_code && !trusted) {
    notices_.push_back(where + ": \"" + entry.key + "\" is ignored because it decides what code is run. " +
                       distrust);
    return {};
  }
  if (key->type == ConfigType::paths) resolve_against(file_, value);
  set(entry.key, std::move(value), ConfigSource::file, file_.string() + ":" + std::to_string(entry.line));
  return {};
}

Result<void> Configuration::read_environment(const ProcessContext& process) {
  for (const auto& [variable, text] : process.environment) {
    if (!variable.starts_with("BACKPLANE_") || text.empty()) continue;
    if (std::ranges::find(kOtherVariables, variable) != kOtherVariables.end()) continue;
    const std::string name = key_of(variable);
    if (name.empty()) {
      // Variables of other programs may share our prefix; only a probable slip is worth a word.
      const std::string suggestion = suggestion_for_variable(variable);
      if (!suggestion.empty()) {
        std::string notice = "The environment variable ";
        notice.append(variable).append(" sets no configuration key.").append(suggestion);
        notices_.push_back(std::move(notice));
      }
      continue;
    }
    const ConfigKey& key = *find_config_key(name);
    BACKPLANE_TRY(ConfigValue value, parse_config_value(key, name, text, "environment variable " + variable));
    set(name, std::move(value), ConfigSource::environment, variable);
  }
  return {};
}

Result<void> Configuration::read_code(const std::map<std::string, std::string>& code) {
  for (const auto& [name, text] : code) {
    const ConfigKey* key = find_config_key(name);
    if (key == nullptr) return unknown_key("RuntimeOptions::configuration", name);
    BACKPLANE_TRY(ConfigValue value, parse_config_value(*key, name, text, "RuntimeOptions::configuration"));
    set(name, std::move(value), ConfigSource::code, "code");
  }
  return {};
}

const ConfigSetting* Configuration::find(std::string_view key) const {
  const auto found = settings_.find(key);
  return found == settings_.end() ? nullptr : &found->second;
}

std::optional<std::string> Configuration::text(std::string_view key) const {
  const ConfigSetting* setting = find(key);
  if (setting == nullptr || std::holds_alternative<std::monostate>(setting->value)) return std::nullopt;
  return to_text(*find_config_key(key), setting->value);
}

std::optional<std::int64_t> Configuration::integer(std::string_view key) const {
  const ConfigSetting* setting = find(key);
  const auto* value = setting == nullptr ? nullptr : std::get_if<std::int64_t>(&setting->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<bool> Configuration::boolean(std::string_view key) const {
  const ConfigSetting* setting = find(key);
  const auto* value = setting == nullptr ? nullptr : std::get_if<bool>(&setting->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::vector<std::string> Configuration::list(std::string_view key) const {
  const ConfigSetting* setting = find(key);
  const auto* value = setting == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&setting->value);
  return value == nullptr ? std::vector<std::string>() : *value;
}

std::vector<std::string> Configuration::log_categories() const {
  std::set<std::string> categories;
  for (const auto& [name, setting] : settings_) {
    if (name.starts_with("log.")) categories.insert(name.substr(4, name.rfind('.') - 4));
  }
  return {categories.begin(), categories.end()};
}

std::vector<ConfigSetting> Configuration::settings() const {
  std::vector<ConfigSetting> result;
  result.reserve(settings_.size());
  for (const auto& [name, setting] : settings_) result.push_back(setting);
  return result;
}

}  // namespace backplane
