#include "config/key_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace backplane {
namespace {

using enum ConfigType;

constexpr std::array<std::string_view, 3> kPriorities{"low", "normal", "high"};
constexpr std::array<std::string_view, 3> kStreamPolicies{"per-thread", "per-task", "single"};
constexpr std::array<std::string_view, 4> kPersistence{"enabled", "size-match", "disabled", "enforced"};
constexpr std::array<std::string_view, 3> kCheckModes{"auto", "enforce", "validate"};
constexpr std::array<std::string_view, 4> kTuneLevels{"minimal", "balanced", "extensive", "full"};
constexpr std::array<std::string_view, 6> kLogLevels{"trace", "debug", "info", "warning", "error", "off"};

constexpr ConfigKey key(std::string_view name, ConfigType type, std::string_view preset,
                        std::string_view description) {
  return {.name = name, .type = type, .default_text = preset, .description = description};
}

constexpr ConfigKey number(std::string_view name, std::string_view preset, std::int64_t least,
                           std::int64_t most, std::string_view description) {
  ConfigKey result = key(name, integer, preset, description);
  result.minimum = least;
  result.maximum = most;
  return result;
}

constexpr ConfigKey one_of(std::string_view name, std::string_view preset,
                           std::span<const std::string_view> choices, std::string_view description) {
  ConfigKey result = key(name, choice, preset, description);
  result.choices = choices;
  return result;
}

// Sorted by name.
constexpr std::array kKeys{
    number("autotune.bench.budget_ms", "2000", 0, 3'600'000,
           "Milliseconds that tuning one kernel may take; 0 for no limit."),
    number("autotune.bench.samples", "10", 1, 10'000, "Measurements of a candidate at most."),
    number("autotune.bench.warmup", "1", 0, 1'000, "Runs of a candidate before it is measured."),
    key("autotune.cache", boolean, "true", "Keep what tuning found for later processes."),
    one_of("autotune.level", "balanced", kTuneLevels, "How many candidates tuning tries."),
    key("autotune.recorder", text, "", "File that receives a JSON line for each tuning."),
    key("autotune.short_circuit", boolean, "true", "Stop measuring once a candidate is clearly ahead."),
    key("compilation.cache", boolean, "true", "Keep compiled kernels for later processes."),
    one_of("compilation.check_mode", "auto", kCheckModes, "How indices beyond a buffer are treated."),
    number("compilation.parallelism", "0", 0, 1024, "Threads that compile; 0 for one a processor."),
    key("device.default", text, "", "The device that is used where none is named, \"cuda:0\"."),
    key("environment.name", text, "default",
        "The environment that compiled and tuned results are kept under."),
    key("environment.path", text, "", "File that environments are kept in."),
    key("environment.records", text, "", "Directory that receives records as JSON lines."),
    key("layers.enable", words, "", "Layers between client and plugin, the outermost first."),
    key("memory.limit", bytes, "", "Most device memory a client may hold, in bytes or as \"8 GiB\"."),
    one_of("memory.persistent", "enabled", kPersistence, "When allocations are placed in persistent pools."),
    key("plugin.disable", patterns, "", "Globs of plugins not to use; wins over plugin.select."),
    key("plugin.paths", paths, "", "Further directories to find plugins in."),
    key("plugin.select", patterns, "", "Globs of plugins to use; not set: all."),
    number("streaming.max_streams", "128", 1, 65'536, "Device streams of a client at most."),
    one_of("streaming.policy", "per-thread", kStreamPolicies, "What gets a logical stream of its own."),
    one_of("streaming.priority", "normal", kPriorities, "Priority of streams that ask for none."),
    key("throughput.cache", boolean, "true", "Keep measured peaks for later processes."),
};

constexpr std::array kLogKeys{
    key("append", boolean, "false", "Keep what the log file holds already."),
    key("file", text, "", "File that receives the category's messages."),
    one_of("level", "warning", kLogLevels, "Least level that is written."),
    key("stderr", boolean, "true", "Write to the standard error stream."),
    key("stdout", boolean, "false", "Write to the standard output stream."),
};

static_assert(std::ranges::is_sorted(kKeys, {}, &ConfigKey::name));
static_assert(std::ranges::is_sorted(kLogKeys, {}, &ConfigKey::name));

const ConfigKey* find_in(std::span<const ConfigKey> keys, std::string_view name) {
  const auto found = std::ranges::lower_bound(keys, name, {}, &ConfigKey::name);
  return found != keys.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

std::span<const ConfigKey> config_keys() {
  return kKeys;
}

std::span<const ConfigKey> log_keys() {
  return kLogKeys;
}

const ConfigKey* find_config_key(std::string_view name) {
  constexpr std::string_view kLogPrefix = "log.";
  if (!name.starts_with(kLogPrefix)) return find_in(kKeys, name);
  const std::size_t dot = name.rfind('.');
  return dot > kLogPrefix.size() ? find_in(kLogKeys, name.substr(dot + 1)) : nullptr;
}

std::string environment_name(std::string_view key) {
  std::string name = "BACKPLANE_";
  for (const char character : key) {
    const bool lower = character >= 'a' && character <= 'z';
    const bool plain = lower || (character >= '0' && character <= '9');
    name += lower ? static_cast<char>(character - 'a' + 'A') : plain ? character : '_';
  }
  return name;
}

}  // namespace backplane
