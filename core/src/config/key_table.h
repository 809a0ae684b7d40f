#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace backplane {

enum class ConfigType : std::uint8_t {
  boolean,
  integer,
  bytes,  ///< An integer, or text such as "8 GiB".
  text,
  choice,    ///< One of `ConfigKey::choices`.
  words,     ///< A list; ',' separates in one string.
  patterns,  ///< Likewise, of globs.
  paths,     ///< Likewise; ':' separates in one string.
};

/// A configuration key: everything that is known of it stands here and nowhere else.
struct ConfigKey {
  std::string_view name;
  ConfigType type;
  std::string_view default_text;  ///< As the environment would spell it; empty: not set.
  std::string_view description;
  std::span<const std::string_view> choices{};
  std::int64_t minimum = 0;
  std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
};

/// All keys except those of the log, by name.
[[nodiscard]] std::span<const ConfigKey> config_keys();

/// The keys of a `[log.CATEGORY]` table; their names are the last part alone.
[[nodiscard]] std::span<const ConfigKey> log_keys();

/// The key with this full name, or null. "log.CATEGORY.KEY" is known for every category.
[[nodiscard]] const ConfigKey* find_config_key(std::string_view name);

/// "streaming.max_streams" -> "BACKPLANE_STREAMING_MAX_STREAMS".
[[nodiscard]] std::string environment_name(std::string_view key);

}  // namespace backplane
