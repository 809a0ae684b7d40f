#include "plugin/manifest_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <backplane/contract/result.h>

#include "config/nearest.h"
#include "config/toml_document.h"

namespace backplane {
namespace {

constexpr std::uint64_t kLargestManifest = std::uint64_t{64} << 10;
constexpr std::int64_t kManifestFormat = 1;
constexpr std::size_t kLongestText = 1024;

constexpr std::array<std::string_view, 11> kKeys{
    "manifest",           "name",      "version",  "description", "library", "interface.major",
    "interface.revision", "toolchain", "priority", "kernels",     "unload"};
constexpr std::array<std::string_view, 7> kRequired{
    "manifest", "name", "version", "library", "interface.major", "interface.revision", "toolchain"};

Error refused(std::string message) {
  return {ErrorCode::plugin_refused, std::move(message)};
}

/// The entries of one manifest, with messages that say where they stand.
class ManifestReader {
 public:
  ManifestReader(std::string file, std::vector<TomlEntry> entries)
      : file_(std::move(file)), entries_(std::move(entries)) {}

  Result<void> check_keys() const {
    const std::vector<std::string> known(kKeys.begin(), kKeys.end());
    for (const TomlEntry& entry : entries_) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      return refused(position(file_, entry) + ": \"" + entry.key + "\" is not a key of a plugin manifest." +
                     did_you_mean(entry.key, known));
    }
    for (const std::string_view key : kRequired) {
      if (find(key) == nullptr) {
        return refused(file_ + ": the key \"" + std::string(key) +
                       "\" is missing; every plugin manifest needs it.");
      }
    }
    return {};
  }

  template <class T>
  Result<T> get(std::string_view key, std::string_view type, T otherwise = {}) const {
    const TomlEntry* entry = find(key);
    if (entry == nullptr) return otherwise;
    if (const T* value = std::get_if<T>(&entry->value)) return *value;
    return refused(position(file_, *entry) + ": \"" + entry->key + "\" is " + type_name(*entry) +
                   "; it must be " + std::string(type) + ".");
  }

  Result<std::string> text(std::string_view key) const {
    BACKPLANE_TRY(std::string value, get<std::string>(key, "a string"));
    if (const TomlEntry* entry = find(key); entry != nullptr && key != "description" && value.empty()) {
      return refused(position(file_, *entry) + ": \"" + entry->key + "\" is empty.");
    }
    if (value.size() > kLongestText) {
      return refused(position(file_, *find(key)) + ": \"" + std::string(key) + "\" has " +
                     std::to_string(value.size()) + " bytes; at most " + std::to_string(kLongestText) +
                     " are allowed.");
    }
    return value;
  }

  Result<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most) const {
    BACKPLANE_TRY(const std::int64_t value, get<std::int64_t>(key, "an integer"));
    if (value < least || value > most) {
      return refused(position(file_, *find(key)) + ": \"" + std::string(key) + "\" is " +
                     std::to_string(value) + "; it must be from " + std::to_string(least) + " to " +
                     std::to_string(most) + ".");
    }
    return value;
  }

  Error at(std::string_view key, const std::string& message) const {
    return refused(position(file_, *find(key)) + ": " + message);
  }

 private:
  [[nodiscard]] const TomlEntry* find(std::string_view key) const {
    const auto found = std::ranges::find(entries_, key, &TomlEntry::key);
    return found == entries_.end() ? nullptr : &*found;
  }

  std::string file_;
  std::vector<TomlEntry> entries_;
};

Result<std::filesystem::path> library_path(const ManifestReader& reader, const std::filesystem::path& file) {
  BACKPLANE_TRY(const std::string text, reader.text("library"));
  const std::filesystem::path library(text);
  if (library.is_absolute() || library.string().find('\0') != std::string::npos) {
    return reader.at("library", R"("library" is ")" + text + "\"; it must be relative to the manifest.");
  }
  return (file.parent_path() / library).lexically_normal();
}

Result<InterfaceVersion> interface_version(const ManifestReader& reader) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint16_t>::max();
  BACKPLANE_TRY(const std::int64_t major, reader.integer("interface.major", 0, kMost));
  BACKPLANE_TRY(const std::int64_t revision, reader.integer("interface.revision", 0, kMost));
  return InterfaceVersion{.major = static_cast<std::uint16_t>(major),
                          .revision = static_cast<std::uint16_t>(revision)};
}

}  // namespace

bool is_plugin_name(std::string_view name) noexcept {
  constexpr std::size_t kLongestName = 32;
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char character) {
    return (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') ||
           character == '_' || character == '-';
  });
}

Result<ManifestFile> read_manifest(const OpenFile& file) {
  auto text = file.read(kLargestManifest);
  if (!text) return refused("The manifest cannot be used").caused_by(std::move(text).error());
  return parse_manifest(*text, file.path());
}

Result<ManifestFile> parse_manifest(std::string_view text, const std::filesystem::path& file) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return refused("\"" + file.string() +
                   "\" is empty; a plugin manifest says at least name, version, library, " +
                   "interface and toolchain.");
  }
  if (text.find('\0') != std::string_view::npos) {
    return refused("\"" + file.string() + "\" is no text file; a plugin manifest is written in TOML.");
  }
  auto entries = parse_toml(text, file.string());
  if (!entries) return refused(entries.error().message());
  const ManifestReader reader(file.string(), *std::move(entries));
  BACKPLANE_CHECK(reader.check_keys());
  BACKPLANE_TRY(const std::int64_t format, reader.get<std::int64_t>("manifest", "an integer"));
  if (format != kManifestFormat) {
    return reader.at("manifest", "the manifest has format " + std::to_string(format) +
                                     ", and this host reads format " + std::to_string(kManifestFormat) + ".");
  }
  ManifestFile manifest;
  manifest.file = file;
  BACKPLANE_TRY(manifest.name, reader.text("name"));
  if (!is_plugin_name(manifest.name)) {
    return reader.at("name", "\"" + manifest.name +
                                 "\" cannot be a plugin's name; it takes 1 to 32 of a-z, 0-9, '_' and '-'.");
  }
  BACKPLANE_TRY(manifest.version, reader.text("version"));
  BACKPLANE_TRY(manifest.description, reader.text("description"));
  BACKPLANE_TRY(manifest.library, library_path(reader, file));
  BACKPLANE_TRY(manifest.interface, interface_version(reader));
  BACKPLANE_TRY(manifest.toolchain, reader.text("toolchain"));
  BACKPLANE_TRY(manifest.priority, reader.integer("priority", -1'000'000, 1'000'000));
  BACKPLANE_TRY(manifest.kernels, reader.get<std::vector<std::string>>("kernels", "a list of strings"));
  BACKPLANE_TRY(manifest.unload, reader.get<bool>("unload", "a boolean"));
  return manifest;
}

}  // namespace backplane
