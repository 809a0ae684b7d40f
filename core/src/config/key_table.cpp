#include "config/key_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
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

// Sorted by name.
constexpr std::array kKeys{
    ConfigKey{"autotune.bench.budget_ms",
              integer,
              "2000",
              "Milliseconds that tuning one kernel may take; 0 for no limit.",
              {},
              0,
              3'600'000},
    ConfigKey{"autotune.bench.samples", integer, "10", "Measurements of a candidate at most.", {}, 1, 10'000},
    ConfigKey{
        "autotune.bench.warmup", integer, "1", "Runs of a candidate before it is measured.", {}, 0, 1'000},
    ConfigKey{"autotune.cache", boolean, "true", "Keep what tuning found for later processes."},
    ConfigKey{"autotune.level", choice, "balanced", "How many candidates tuning tries.", kTuneLevels},
    ConfigKey{"autotune.recorder", text, "", "File that receives a JSON line for each tuning."},
    ConfigKey{"autotune.short_circuit", boolean, "true", "Stop measuring once a candidate is clearly ahead."},
    ConfigKey{"compilation.cache", boolean, "true", "Keep compiled kernels for later processes."},
    ConfigKey{"compilation.check_mode", choice, "auto", "How indices beyond a buffer are treated.",
              kCheckModes},
    ConfigKey{
        "compilation.parallelism", integer, "0", "Threads that compile; 0 for one a processor.", {}, 0, 1024},
    ConfigKey{"device.default", text, "", "The device that is used where none is named, \"cuda:0\"."},
    ConfigKey{"environment.name", text, "default",
              "The environment that compiled and tuned results are kept under."},
    ConfigKey{"environment.path", text, "", "File that environments are kept in."},
    ConfigKey{"environment.records", text, "", "Directory that receives records as JSON lines."},
    ConfigKey{"layers.enable", words, "", "Layers between client and plugin, the outermost first."},
    ConfigKey{"memory.limit", bytes, "", "Most device memory a client may hold, in bytes or as \"8 GiB\"."},
    ConfigKey{"memory.persistent", choice, "enabled", "When allocations are placed in persistent pools.",
              kPersistence},
    ConfigKey{"plugin.disable", patterns, "", "Globs of plugins not to use; wins over plugin.select."},
    ConfigKey{"plugin.paths", paths, "", "Further directories to find plugins in."},
    ConfigKey{"plugin.select", patterns, "", "Globs of plugins to use; not set: all."},
    ConfigKey{"streaming.max_streams", integer, "128", "Device streams of a client at most.", {}, 1, 65'536},
    ConfigKey{"streaming.policy", choice, "per-thread", "What gets a logical stream of its own.",
              kStreamPolicies},
    ConfigKey{"streaming.priority", choice, "normal", "Priority of streams that ask for none.", kPriorities},
    ConfigKey{"throughput.cache", boolean, "true", "Keep measured peaks for later processes."},
};

constexpr std::array kLogKeys{
    ConfigKey{"append", boolean, "false", "Keep what the log file holds already."},
    ConfigKey{"file", text, "", "File that receives the category's messages."},
    ConfigKey{"level", choice, "warning", "Least level that is written.", kLogLevels},
    ConfigKey{"stderr", boolean, "true", "Write to the standard error stream."},
    ConfigKey{"stdout", boolean, "false", "Write to the standard output stream."},
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
