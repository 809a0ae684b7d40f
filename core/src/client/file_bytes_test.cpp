#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include <backplane/file_bytes.h>

namespace backplane {
namespace {

class MapFile : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path make(const std::string& text) {
    std::ofstream(directory_ / "file") << text;
    return directory_ / "file";
  }

 private:
  std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / ("map_file_" + std::to_string(::getpid()));
};

TEST_F(MapFile, ShowsTheFileAndKeepsChangesPrivate) {
  const std::filesystem::path path = make("contents");
  {
    Bytes bytes = map_file(path).value();
    EXPECT_EQ(bytes.kind(), BytesKind::file);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "contents");
    bytes.data()[0] = std::byte{'C'};
  }
  EXPECT_EQ(map_file(path).value().data()[0], std::byte{'c'});
}

TEST_F(MapFile, AnEmptyFileIsAnEmptyBlock) {
  EXPECT_TRUE(map_file(make("")).value().empty());
}

TEST_F(MapFile, NamesAFileThatIsNotThere) {
  const auto missing = map_file("/nowhere/file");
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find("/nowhere/file"), std::string::npos);
}

}  // namespace
}  // namespace backplane
