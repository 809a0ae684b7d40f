#include "config/toml_document.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The parser's errors are values here, and the library is not needed at run time.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace backplane {
namespace {

std::string_view kind(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array of something else than strings";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time";
    default:
      return "a value of another type";
  }
}

/// Moves one leaf into `entry`.
void read_leaf(const toml::node& node, TomlEntry& entry) {
  if (const auto* boolean = node.as_boolean()) {
    entry.value = boolean->get();
  } else if (const auto* integer = node.as_integer()) {
    entry.value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    entry.value = number->get();
  } else if (const auto* text = node.as_string()) {
    entry.value = text->get();
  } else if (const auto* array = node.as_array();
             array != nullptr && (array->empty() || array->is_homogeneous(toml::node_type::string))) {
    std::vector<std::string> list;
    for (const toml::node& element : *array) list.push_back(element.as_string()->get());
    entry.value = std::move(list);
  } else {
    entry.value = TomlOther{std::string(kind(node))};
  }
}

void flatten(const toml::table& table, const std::string& prefix, std::vector<TomlEntry>& entries) {
  for (const auto& [key, node] : table) {
    std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      flatten(*inner, name, entries);
      continue;
    }
    // The key's own place would be better still, but a table written as a header has none.
    const toml::source_position where = node.is_table() ? node.source().begin : key.source().begin;
    TomlEntry entry{.key = std::move(name), .value = {}, .line = where.line, .column = where.column};
    read_leaf(node, entry);
    entries.push_back(std::move(entry));
  }
}

}  // namespace

Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view file) {
  const toml::parse_result result = toml::parse(text, file);
  if (!result) {
    const toml::parse_error& error = result.error();
    const toml::source_position where = error.source().begin;
    std::string description(error.description());
    // The parser quotes what it met, which need not be printable.
    std::ranges::replace_if(
        description, [](unsigned char character) { return character < 0x20 || character == 0x7f; }, '?');
    return Error(ErrorCode::configuration_invalid, std::string(file) + ":" + std::to_string(where.line) +
                                                       ":" + std::to_string(where.column) +
                                                       ": this is no valid TOML: " + description);
  }
  std::vector<TomlEntry> entries;
  flatten(result.table(), {}, entries);
  return entries;
}

std::string position(std::string_view file, const TomlEntry& entry) {
  return std::string(file) + ":" + std::to_string(entry.line) + ":" + std::to_string(entry.column);
}

std::string type_name(const TomlEntry& entry) {
  struct Namer {
    std::string operator()(bool /*value*/) const { return "a boolean"; }
    std::string operator()(std::int64_t /*value*/) const { return "an integer"; }
    std::string operator()(double /*value*/) const { return "a number with a fraction"; }
    std::string operator()(const std::string& /*value*/) const { return "a string"; }
    std::string operator()(const std::vector<std::string>& /*value*/) const { return "a list of strings"; }
    std::string operator()(const TomlOther& other) const { return other.type; }
  };
  return std::visit(Namer{}, entry.value);
}

}  // namespace backplane
