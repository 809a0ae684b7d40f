#include "plugin/file_trust.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const TrustPolicy kPolicy{.user = 1000, .group_of_user = [](uid_t user) { return static_cast<gid_t>(user); }};

std::string reason(mode_t mode, uid_t owner, gid_t group) {
  return distrust_of(FileFacts{.mode = mode, .owner = owner, .group = group}, "/f", kPolicy);
}

TEST(FileTrust, FilesOfRootAndOfTheUserAreTrusted) {
  EXPECT_THAT(reason(S_IFREG | 0644, 0, 0), IsEmpty());
  EXPECT_THAT(reason(S_IFREG | 0644, 1000, 1000), IsEmpty());
}

TEST(FileTrust, FilesOfOthersAreNot) {
  EXPECT_THAT(reason(S_IFREG | 0644, 1001, 1001), HasSubstr("neither root nor the user"));
}

TEST(FileTrust, WorldWritableFilesAreNot) {
  EXPECT_THAT(reason(S_IFREG | 0646, 1000, 1000), HasSubstr("by everybody"));
  EXPECT_THAT(reason(S_IFREG | S_ISVTX | 0646, 1000, 1000), HasSubstr("by everybody"));
}

TEST(FileTrust, AGroupMayWriteOnlyIfItIsItsOwnersOwn) {
  EXPECT_THAT(reason(S_IFREG | 0664, 1000, 1000), IsEmpty());
  EXPECT_THAT(reason(S_IFREG | 0664, 1000, 50), HasSubstr("group 50"));
}

TEST(FileTrust, AStickyDirectoryMayBeWorldWritable) {
  EXPECT_THAT(reason(S_IFDIR | S_ISVTX | 0777, 0, 0), IsEmpty());
  EXPECT_THAT(reason(S_IFDIR | 0777, 0, 0), HasSubstr("by everybody"));
}

TEST(FileTrust, DirectoriesAboveAreJudgedToo) {
  const test::TempDirectory directory;
  const auto file = directory.write("open/below/file", "text");
  EXPECT_THAT(distrust_of(OpenFile::open(file).value()), IsEmpty());
  std::filesystem::permissions(directory.path() / "open", std::filesystem::perms::all);
  EXPECT_THAT(distrust_of(OpenFile::open(file).value()), HasSubstr("open\" can be written by everybody"));
}

TEST(FileTrust, ALinkIsJudgedByWhereItLeads) {
  const test::TempDirectory directory;
  const auto file = directory.write("open/file", "text");
  std::filesystem::permissions(directory.path() / "open", std::filesystem::perms::all);
  std::filesystem::create_directories(directory.path() / "closed");
  const auto link = directory.path() / "closed" / "link";
  std::filesystem::create_symlink(file, link);
  EXPECT_THAT(distrust_of(OpenFile::open(link).value()), HasSubstr("open\" can be written by everybody"));
}

std::string open_failure(const std::filesystem::path& path) {
  const auto file = OpenFile::open(path);
  EXPECT_FALSE(file.has_value());
  return file ? std::string() : file.error().message();
}

TEST(OpenFile, WhatIsNoRegularFileIsRefusedWithoutWaitingForIt) {
  const test::TempDirectory directory;
  EXPECT_THAT(open_failure(directory.path()), HasSubstr("is a directory"));
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(open_failure(pipe), HasSubstr("is a pipe"));
}

TEST(OpenFile, LinksThatLeadNowhereSaySo) {
  const test::TempDirectory directory;
  std::filesystem::create_symlink("gone", directory.path() / "dangling");
  EXPECT_THAT(open_failure(directory.path() / "dangling"), HasSubstr("a file that does not exist"));
  std::filesystem::create_symlink("self", directory.path() / "self");
  EXPECT_THAT(open_failure(directory.path() / "self"), HasSubstr("in a circle"));
}

TEST(OpenFile, AReplacedFileIsNoticed) {
  const test::TempDirectory directory;
  const auto path = directory.write("file", "old");
  const OpenFile file = OpenFile::open(path).value();
  EXPECT_TRUE(file.still_there());
  std::filesystem::rename(directory.write("new", "new"), path);
  EXPECT_FALSE(file.still_there());
  EXPECT_EQ(file.read(16).value(), "old");
}

}  // namespace
}  // namespace backplane
