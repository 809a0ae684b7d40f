#pragma once

#include <filesystem>
#include <memory>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>
#include <backplane/contract/translator.h>

namespace backplane {

/// An open shared library; closed with the last reference, unless `keep_open` was called. Symbols are
/// resolved at once and stay local to it. Any thread.
class Library {
 public:
  /// Opens a library, which runs its initialisers. Error: `plugin_load_failed` with the loader's own text,
  /// which names an undefined symbol or a missing dependency.
  static Result<std::shared_ptr<Library>> open(const std::filesystem::path& path);

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  virtual ~Library() = default;

  /// The entry points. Error: `plugin_load_failed` if the library exports none.
  [[nodiscard]] virtual Result<PluginEntryPoint> plugin_entry_point() const = 0;
  [[nodiscard]] virtual Result<TranslatorEntryPoint> translator_entry_point() const = 0;

  /// Leaves the library in the process for good: it may have threads, or thread-local objects, that would run
  /// into the void.
  virtual void keep_open() = 0;

  [[nodiscard]] virtual const std::filesystem::path& path() const noexcept = 0;

 protected:
  Library() = default;
};

/// The directory of the module that contains this code: libbackplane, or the program it is linked into. As it
/// was when the module was loaded, links resolved, so that neither changing the working directory nor a link
/// to the program matters.
[[nodiscard]] const std::filesystem::path& core_directory();

}  // namespace backplane
