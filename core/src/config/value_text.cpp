#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <backplane/contract/result.h>

#include "config/configuration.h"
#include "config/key_table.h"
#include "config/nearest.h"

namespace backplane {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trim(text.substr(0, end));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "1" || text == "on" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "off" || text == "no") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::string_view* rest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  *rest = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kUnits{
      {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  std::string_view unit;
  const auto number = parse_integer(text, &unit);
  const auto* found = std::ranges::find(kUnits, unit, &std::pair<std::string_view, int>::first);
  if (!number || *number < 0 || found == kUnits.end()) return std::nullopt;
  if (*number > (std::numeric_limits<std::int64_t>::max() >> found->second)) return std::nullopt;
  return *number << found->second;
}

Error bad_value(const std::string& where, std::string_view name, std::string_view text,
                const std::string& expected) {
  return {ErrorCode::configuration_invalid, where + ": \"" + std::string(name) + "\" cannot be \"" +
                                                std::string(text) + "\"; it takes " + expected};
}

Result<ConfigValue> parse_number(const ConfigKey& key, std::string_view name, std::string_view text,
                                 const std::string& where) {
  std::string_view rest;
  const auto number = key.type == ConfigType::bytes ? parse_bytes(text) : parse_integer(text, &rest);
  if (!number || !rest.empty() || *number < key.minimum || *number > key.maximum) {
    const std::string expected =
        key.type == ConfigType::bytes
            ? "a number of bytes, such as 1073741824 or \"1 GiB\"."
            : "an integer from " + std::to_string(key.minimum) + " to " + std::to_string(key.maximum) + ".";
    return bad_value(where, name, text, expected);
  }
  return ConfigValue(*number);
}

Result<ConfigValue> parse_choice(const ConfigKey& key, std::string_view name, std::string_view text,
                                 const std::string& where) {
  if (std::ranges::find(key.choices, text) != key.choices.end()) return ConfigValue(std::string(text));
  std::string expected;
  for (const std::string_view choice : key.choices) {
    expected += expected.empty() ? "" : choice == key.choices.back() ? " or " : ", ";
    expected.append("\"").append(choice).append("\"");
  }
  const std::vector<std::string> choices(key.choices.begin(), key.choices.end());
  return bad_value(where, name, text, expected + "." + did_you_mean(text, choices));
}

}  // namespace

Result<ConfigValue> parse_config_value(const ConfigKey& key, std::string_view name, std::string_view text,
                                       const std::string& where) {
  switch (key.type) {
    case ConfigType::boolean: {
      const auto boolean = parse_boolean(text);
      if (!boolean) return bad_value(where, name, text, "true or false.");
      return ConfigValue(*boolean);
    }
    case ConfigType::integer:
    case ConfigType::bytes:
      return parse_number(key, name, text, where);
    case ConfigType::text:
      return ConfigValue(std::string(text));
    case ConfigType::choice:
      return parse_choice(key, name, text, where);
    case ConfigType::words:
    case ConfigType::patterns:
      return ConfigValue(split(text, ','));
    case ConfigType::paths:
      return ConfigValue(split(text, ':'));
  }
  return ConfigValue();
}

std::string to_text(const ConfigKey& key, const ConfigValue& value) {
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string joined;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    for (const std::string& item : *list) {
      if (!joined.empty()) joined += key.type == ConfigType::paths ? ':' : ',';
      joined += item;
    }
  }
  return joined;
}

}  // namespace backplane
