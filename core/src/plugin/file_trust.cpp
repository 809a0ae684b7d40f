#include "plugin/file_trust.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <backplane/contract/result.h>

namespace backplane {
namespace {

FileFacts facts_of(const struct stat& status) {
  return {.mode = status.st_mode,
          .owner = status.st_uid,
          .group = status.st_gid,
          .device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size)};
}

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

Error cannot_open(const std::filesystem::path& path, int error) {
  std::error_code ignored;
  const bool link = std::filesystem::is_symlink(path, ignored);
  const std::string name = "\"" + path.string() + "\"";
  if (error == ENOENT && link) {
    return {ErrorCode::not_found, name + " is a symbolic link to a file that does not exist."};
  }
  if (error == ELOOP) return {ErrorCode::not_found, name + " is a symbolic link that leads in a circle."};
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {missing ? ErrorCode::not_found : ErrorCode::io_unknown,
          name + " cannot be opened: " + reason_of(error) + "."};
}

gid_t primary_group(uid_t user) {
  std::vector<char> buffer(16384);
  struct passwd entry{};
  struct passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return static_cast<gid_t>(-1);
  }
  return found->pw_gid;
}

std::string user_name(uid_t user) {
  std::vector<char> buffer(16384);
  struct passwd entry{};
  struct passwd* found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return "user " + std::to_string(user);
  }
  return "user \"" + std::string(found->pw_name) + "\"";
}

/// The directories above `path`, the nearest first.
std::string distrust_above(const std::filesystem::path& path, const TrustPolicy& policy) {
  for (std::filesystem::path directory = path.parent_path();; directory = directory.parent_path()) {
    struct stat status{};
    if (stat(directory.c_str(), &status) != 0) {
      return "The directory \"" + directory.string() + "\" cannot be examined: " + reason_of(errno) + ".";
    }
    std::string reason = distrust_of(facts_of(status), directory, policy);
    if (!reason.empty() || directory == directory.parent_path()) return reason;
  }
}

}  // namespace

Result<OpenFile> OpenFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe of this name would hold us up for good.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return cannot_open(path, errno);
  OpenFile file(descriptor, {}, path);
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return cannot_open(path, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::validation, "\"" + path.string() + "\" is " +
                                            std::string(kind_of(status.st_mode)) +
                                            "; it must be a regular file.");
  }
  file.facts_ = facts_of(status);
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      facts_(other.facts_),
      path_(std::move(other.path_)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(facts_, other.facts_);
  std::swap(path_, other.path_);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::string> OpenFile::read(std::uint64_t limit) const {
  // A file may grow while it is read, so the size it had decides nothing but the message.
  std::string text;
  std::array<char, 16384> block{};
  for (;;) {
    const ssize_t count = ::pread(descriptor_, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_open(path_, errno);
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > limit) {
      const std::uint64_t size = std::max<std::uint64_t>(facts_.size, text.size());
      return Error(ErrorCode::validation, "\"" + path_.string() + "\" has " + std::to_string(size) +
                                              " bytes; at most " + std::to_string(limit) + " are read.")
          .with_limit(size, limit);
    }
  }
}

bool OpenFile::still_there() const {
  struct stat status{};
  return stat(path_.c_str(), &status) == 0 && status.st_dev == facts_.device && status.st_ino == facts_.inode;
}

TrustPolicy TrustPolicy::of_process() {
  return {.user = geteuid(), .group_of_user = primary_group};
}

std::string distrust_of(const FileFacts& facts, const std::filesystem::path& path,
                        const TrustPolicy& policy) {
  const std::string name = "\"" + path.string() + "\"";
  if (facts.owner != 0 && facts.owner != policy.user) {
    return name + " belongs to " + user_name(facts.owner) +
           ", who is neither root nor the user of this process.";
  }
  const bool sticky_directory = S_ISDIR(facts.mode) && (facts.mode & S_ISVTX) != 0;
  if (sticky_directory) return {};
  if ((facts.mode & S_IWOTH) != 0) return name + " can be written by everybody.";
  if ((facts.mode & S_IWGRP) != 0 && facts.group != policy.group_of_user(facts.owner)) {
    return name + " can be written by group " + std::to_string(facts.group) +
           ", which is not the group of its owner.";
  }
  return {};
}

std::string distrust_of(const OpenFile& file, const TrustPolicy& policy) {
  std::string reason = distrust_of(file.facts(), file.path(), policy);
  if (!reason.empty()) return reason;
  std::error_code failed;
  const std::filesystem::path named = std::filesystem::absolute(file.path(), failed).lexically_normal();
  if (!failed) reason = distrust_above(named, policy);
  if (!reason.empty()) return reason;
  const std::filesystem::path resolved = std::filesystem::canonical(file.path(), failed);
  if (failed) return "\"" + file.path().string() + "\" cannot be resolved: " + failed.message() + ".";
  return resolved == named ? std::string() : distrust_above(resolved, policy);
}

}  // namespace backplane
