#include "plugin/search_path.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "plugin/manifest_file.h"

namespace backplane {
namespace {

constexpr char kListSeparator = ':';

/// Collects places, made absolute while the working directory is what it was when they were named.
class PlaceList {
 public:
  explicit PlaceList(std::filesystem::path working_directory)
      : working_directory_(std::move(working_directory)) {}

  void add(const std::filesystem::path& path, PluginSource source) {
    if (path.empty()) return;
    const std::filesystem::path absolute = path.is_absolute() ? path : working_directory_ / path;
    places_.push_back({absolute.lexically_normal(), source});
  }

  void add_list(std::string_view text, PluginSource source) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(kListSeparator), text.size());
      add(std::filesystem::path(text.substr(0, end)), source);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  [[nodiscard]] std::vector<SearchPlace> take() { return std::move(places_); }

 private:
  std::filesystem::path working_directory_;
  std::vector<SearchPlace> places_;
};

/// The plugins of an installation or a build tree, whose library lies in `core` or whose program in
/// `core`/../bin.
std::vector<std::filesystem::path> install_places(const std::filesystem::path& core) {
  if (core.empty()) return {};
  const std::filesystem::path below = std::filesystem::path("backplane") / "plugins";
  std::vector<std::filesystem::path> places{core / below};
  std::error_code ignored;
  // A program that has the library linked into it stands in bin.
  const std::filesystem::path beside = core.parent_path() / "lib" / below;
  if (beside != places.front() && std::filesystem::is_directory(beside, ignored)) places.push_back(beside);
  return places;
}

bool is_library_name(const std::filesystem::path& path) {
  return path.extension() == ".so" || path.filename().string().find(".so.") != std::string::npos ||
         path.extension() == ".dll" || path.extension() == ".dylib";
}

SearchResult search_directory(const std::filesystem::path& directory) {
  SearchResult result;
  std::error_code failed;
  std::filesystem::directory_iterator entry(directory, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (entry->path().filename().string().ends_with(kManifestSuffix)) {
      result.hits.push_back({.path = entry->path(), .is_library = false});
    }
  }
  if (failed) result.problem = "The directory cannot be read: " + failed.message() + ".";
  std::ranges::sort(result.hits, {}, [](const SearchHit& hit) { return hit.path.filename().string(); });
  return result;
}

}  // namespace

std::vector<SearchPlace> search_places(const SearchInputs& inputs) {
  PlaceList places(inputs.process.working_directory);
  for (const auto& path : inputs.code) places.add(path, PluginSource::code);
  if (const auto only = inputs.process.variable("BACKPLANE_PLUGINS")) {
    places.add_list(*only, PluginSource::environment);
    return places.take();
  }
  if (const auto added = inputs.process.variable("BACKPLANE_ADD_PLUGINS")) {
    places.add_list(*added, PluginSource::environment_added);
  }
  for (const auto& path : inputs.configuration) places.add(path, PluginSource::configuration);
  const std::filesystem::path data = inputs.process.data_home();
  if (!data.empty()) places.add(data / "backplane" / "plugins", PluginSource::user);
  for (const auto& path : install_places(inputs.core)) places.add(path, PluginSource::install);
  return places.take();
}

SearchResult search(const SearchPlace& place) {
  std::error_code failed;
  const std::filesystem::file_status status = std::filesystem::status(place.path, failed);
  if (status.type() == std::filesystem::file_type::directory) return search_directory(place.path);
  if (status.type() == std::filesystem::file_type::not_found) {
    const bool named = place.source < PluginSource::user;
    std::error_code ignored;
    const bool dangling = std::filesystem::is_symlink(place.path, ignored);
    SearchResult result;
    if (dangling) {
      result.problem = "It is a symbolic link to something that does not exist.";
    } else if (named) {
      result.problem = "It does not exist.";
    }
    return result;
  }
  if (failed) return {.hits = {}, .problem = "It cannot be examined: " + failed.message() + "."};
  if (place.path.filename().string().ends_with(kManifestSuffix))
    return {.hits = {{.path = place.path, .is_library = false}}, .problem = {}};
  if (is_library_name(place.path)) return {.hits = {{.path = place.path, .is_library = true}}, .problem = {}};
  return {.hits = {},
          .problem =
              "It is a file; only a directory, a manifest (*.plugin.toml) or a library can be "
              "searched for plugins."};
}

}  // namespace backplane
