#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <backplane/runtime.h>

#include "config/process_context.h"

namespace backplane {

/// Where plugins are looked for.
struct SearchInputs {
  std::vector<std::filesystem::path> code;  ///< `RuntimeOptions::plugins`.
  ProcessContext process;
  std::vector<std::filesystem::path> configuration;  ///< `[plugin] paths`.
  std::filesystem::path core;                        ///< `core_directory()`.
};

/// A place to search: a directory, a manifest, or a library.
struct SearchPlace {
  std::filesystem::path path;
  PluginSource source = PluginSource::code;
};

/// A candidate at a place.
struct SearchHit {
  std::filesystem::path path;
  bool is_library = false;  ///< Named as a library by the user; else a manifest.
};

/// What a place holds.
struct SearchResult {
  std::vector<SearchHit> hits;  ///< By name.
  std::string problem;          ///< Why the place could not be searched; empty if it could.
};

/// The places in the order in which they are searched, all absolute.
[[nodiscard]] std::vector<SearchPlace> search_places(const SearchInputs& inputs);

/// Looks into a place; opens no file. A place that nobody named need not exist.
[[nodiscard]] SearchResult search(const SearchPlace& place);

}  // namespace backplane
