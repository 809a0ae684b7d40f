#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace backplane::test {

/// A directory of one test's own, removed with it. Its name has blanks, Korean and an emoji in it, so that
/// every test is also one of such names.
class TempDirectory {
 public:
  TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes a file and returns its path; makes the directories above it.
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// Sets an environment variable and takes it back at its end.
class ScopedEnvironment {
 public:
  ScopedEnvironment(std::string name, const std::string& value);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::string name_;
};

/// Copies a test plugin, library and manifest, into a directory.
void install_plugin(std::string_view name, const std::filesystem::path& directory);

/// All of a file.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

/// The text of the manifest that a test plugin was built with.
[[nodiscard]] std::string manifest_text(std::string_view name);

/// The text with `from`, which must be in it, replaced.
[[nodiscard]] std::string replaced(std::string text, std::string_view from, std::string_view to);

/// Whether any mapping of this process is of a file whose path contains `part`.
[[nodiscard]] bool is_mapped(std::string_view part);

}  // namespace backplane::test
