#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <sys/types.h>

#include <backplane/contract/result.h>

namespace backplane {

/// What matters of a file to whether it can be trusted.
struct FileFacts {
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
};

/// A regular file that is open for reading: what was judged is what is read, whatever its name means by now.
/// Movable, one thread at a time.
class OpenFile {
 public:
  /// Opens what `path` resolves to. Does not block on pipes and devices. Errors: `not_found` where the path
  /// leads nowhere; `validation` for anything but a regular file; `io_unknown`.
  static Result<OpenFile> open(const std::filesystem::path& path);

  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  /// All of it. Errors: `validation` if it is larger than `limit` bytes; `io_unknown`.
  [[nodiscard]] Result<std::string> read(std::uint64_t limit) const;

  [[nodiscard]] const FileFacts& facts() const noexcept { return facts_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Whether `path()` still means this very file.
  [[nodiscard]] bool still_there() const;

 private:
  OpenFile(int descriptor, FileFacts facts, std::filesystem::path path) noexcept
      : descriptor_(descriptor), facts_(facts), path_(std::move(path)) {}

  int descriptor_ = -1;
  FileFacts facts_;
  std::filesystem::path path_;
};

/// Whose files are trusted.
struct TrustPolicy {
  uid_t user;                                 ///< Beside root.
  std::function<gid_t(uid_t)> group_of_user;  ///< The primary group; -1 if the user is unknown.

  /// Root and the user that this process runs as.
  static TrustPolicy of_process();
};

/// Why somebody else than root and the user could have written a file or directory with these facts, as a
/// sentence; empty if nobody else could. A sticky directory may be world-writable: what is in it belongs to
/// its owner all the same.
[[nodiscard]] std::string distrust_of(const FileFacts& facts, const std::filesystem::path& path,
                                      const TrustPolicy& policy);

/// Likewise for an open file and every directory above it, both as it was named and as it resolves.
[[nodiscard]] std::string distrust_of(const OpenFile& file,
                                      const TrustPolicy& policy = TrustPolicy::of_process());

}  // namespace backplane
