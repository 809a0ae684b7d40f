#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <backplane/contract/result.h>
#include <backplane/contract/version.h>

#include "plugin/file_trust.h"

namespace backplane {

/// What a plugin says of itself on disk: all that is known of it before its library is opened.
struct ManifestFile {
  std::filesystem::path file;
  std::string name;
  std::string version;
  std::string description;
  std::filesystem::path library;  ///< Absolute.
  InterfaceVersion interface{};
  std::string toolchain;
  std::int64_t priority = 0;
  std::vector<std::string> kernels;
  bool unload = false;  ///< The library may be closed when the plugin is no longer used.
};

/// Ends the name of every manifest.
inline constexpr std::string_view kManifestSuffix = ".plugin.toml";

/// Whether this is a plugin's name: 1 to 32 of a-z, 0-9, '_' and '-'.
[[nodiscard]] bool is_plugin_name(std::string_view name) noexcept;

/// Reads a manifest that is open. Errors: `plugin_refused`, with file, line and column where there are any,
/// for a file that is empty, too large, no text, no TOML, or that lacks, misspells or misuses a key.
Result<ManifestFile> read_manifest(const OpenFile& file);

/// Likewise from its text.
Result<ManifestFile> parse_manifest(std::string_view text, const std::filesystem::path& file);

}  // namespace backplane
