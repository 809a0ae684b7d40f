#include "plugin/manifest_file.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/contract/toolchain.h>

#include "plugin/file_trust.h"
#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::HasSubstr;

const std::string kGood = R"(manifest = 1
name = "mine"
version = "1.0"
description = "A test"
library = "libbackplane_mine.so"
interface = { major = 0, revision = 4 }
toolchain = "linux-x86_64 itanium libstdc++-cxx11"
priority = 100
kernels = ["spirv", "ptx"]
unload = true
)";

std::string refusal(const std::string& text) {
  const auto manifest = parse_manifest(text, "/plugins/mine.plugin.toml");
  EXPECT_FALSE(manifest.has_value());
  if (manifest) return {};
  EXPECT_EQ(manifest.error().code(), ErrorCode::plugin_refused);
  return manifest.error().to_string();
}

TEST(ManifestFile, EveryKeyIsRead) {
  const ManifestFile manifest = parse_manifest(kGood, "/plugins/mine.plugin.toml").value();
  EXPECT_EQ(manifest.name, "mine");
  EXPECT_EQ(manifest.version, "1.0");
  EXPECT_EQ(manifest.description, "A test");
  EXPECT_EQ(manifest.library, "/plugins/libbackplane_mine.so");
  EXPECT_EQ(manifest.interface, (InterfaceVersion{0, 4}));
  EXPECT_EQ(manifest.priority, 100);
  EXPECT_THAT(manifest.kernels, testing::ElementsAre("spirv", "ptx"));
  EXPECT_TRUE(manifest.unload);
}

TEST(ManifestFile, TheBuildWritesManifestsThatAgreeWithTheHeaders) {
  const ManifestFile manifest = parse_manifest(test::manifest_text("good"), "/p/good.plugin.toml").value();
  EXPECT_EQ(manifest.interface, kInterfaceVersion);
  EXPECT_EQ(manifest.toolchain, kToolchain);
}

TEST(ManifestFile, ASyntaxErrorIsToldWithFileLineAndColumn) {
  EXPECT_THAT(refusal("manifest = 1\nname = \n"), HasSubstr("/plugins/mine.plugin.toml:2:"));
}

TEST(ManifestFile, AMisspelledKeyIsToldWithItsPlaceAndWhatWasMeant) {
  const std::string message = refusal(test::replaced(kGood, "priority", "priorty"));
  EXPECT_THAT(message, HasSubstr("/plugins/mine.plugin.toml:8:1:"));
  EXPECT_THAT(message, HasSubstr("Did you mean \"priority\"?"));
}

TEST(ManifestFile, AWrongTypeIsToldWithItsPlace) {
  const std::string message = refusal(test::replaced(kGood, "100", "\"high\""));
  EXPECT_THAT(message, HasSubstr("mine.plugin.toml:8:1:"));
  EXPECT_THAT(message, HasSubstr("\"priority\" is a string; it must be an integer"));
}

TEST(ManifestFile, AMissingKeyIsNamed) {
  EXPECT_THAT(refusal(test::replaced(kGood, "version = \"1.0\"\n", "")), HasSubstr("\"version\" is missing"));
}

TEST(ManifestFile, NamesAreOneTo32OfTheAllowedCharacters) {
  EXPECT_TRUE(is_plugin_name("cuda-2_x"));
  EXPECT_TRUE(is_plugin_name(std::string(32, 'a')));
  for (const std::string& bad : {std::string(), std::string(33, 'a'), std::string("Cuda"), std::string("a.b"),
                                 std::string("a/b"), std::string("a b")}) {
    EXPECT_FALSE(is_plugin_name(bad)) << bad;
  }
  EXPECT_THAT(refusal(test::replaced(kGood, "\"mine\"", "\"../mine\"")), HasSubstr(":2:1:"));
}

TEST(ManifestFile, AnAbsoluteLibraryIsRefused) {
  EXPECT_THAT(refusal(test::replaced(kGood, "libbackplane_mine.so", "/lib/x.so")),
              HasSubstr("must be relative"));
}

TEST(ManifestFile, VersionsOutOfRangeAreRefused) {
  EXPECT_THAT(refusal(test::replaced(kGood, "revision = 4", "revision = -1")), HasSubstr("0 to 65535"));
  EXPECT_THAT(refusal(test::replaced(kGood, "major = 0", "major = 70000")), HasSubstr("0 to 65535"));
}

TEST(ManifestFile, ALaterFormatIsRefusedByItsNumber) {
  EXPECT_THAT(refusal(test::replaced(kGood, "manifest = 1", "manifest = 2")), HasSubstr("format 2"));
}

TEST(ManifestFile, AnEmptyFileSaysSo) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal(" \n\n"), HasSubstr("is empty"));
}

TEST(ManifestFile, ABinaryFileSaysSo) {
  EXPECT_THAT(refusal(std::string("\x7f"
                                  "ELF\0\0\0",
                                  7)),
              HasSubstr("no text file"));
  EXPECT_THAT(refusal("\xff\xfe\xfd"), HasSubstr("no valid TOML"));
}

TEST(ManifestFile, AHugeFileIsNotReadToItsEnd) {
  const test::TempDirectory directory;
  const auto path = directory.write("huge.plugin.toml", "x");
  std::filesystem::resize_file(path, std::uint64_t{100} << 20);
  const auto manifest = read_manifest(OpenFile::open(path).value());
  ASSERT_FALSE(manifest.has_value());
  EXPECT_THAT(manifest.error().to_string(), HasSubstr("104857600 bytes; at most 65536"));
}

}  // namespace
}  // namespace backplane
