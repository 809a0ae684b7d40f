#include "plugin/handshake.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <backplane/contract/toolchain.h>

namespace backplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

IPlugin* create(IHost* /*host*/, Result<void>* /*error*/) noexcept {
  return nullptr;
}
void destroy(IPlugin* /*plugin*/) noexcept {}

PluginManifest good() {
  return {.size = sizeof(PluginManifest),
          .magic = PluginManifest::kMagic,
          .interface_major = kInterfaceVersion.major,
          .interface_revision = kInterfaceVersion.revision,
          .toolchain = kToolchain.data(),  // NOLINT(bugprone-suspicious-stringview-data-usage): a literal
          .name = "mine",
          .version = "1.0",
          .create = create,
          .destroy = destroy};
}

ManifestFile good_file() {
  ManifestFile file;
  file.file = "/p/mine.plugin.toml";
  file.name = "mine";
  file.version = "1.0";
  file.interface = kInterfaceVersion;
  file.toolchain = kToolchain;
  return file;
}

std::string refusal(const PluginManifest* manifest, const ManifestFile* file = nullptr) {
  const auto result = check_handshake(manifest, file, "/p/libbackplane_mine.so");
  EXPECT_FALSE(result.has_value());
  if (result) return {};
  EXPECT_EQ(result.error().code(), ErrorCode::plugin_refused);
  return result.error().message();
}

TEST(Handshake, AMatchingManifestIsAccepted) {
  const PluginManifest manifest = good();
  const ManifestFile file = good_file();
  EXPECT_TRUE(check_handshake(&manifest, &file, "x").has_value());
  EXPECT_TRUE(check_handshake(&manifest, nullptr, "x").has_value());
}

TEST(Handshake, GarbageIsRefusedBeforeAnythingElseIsLookedAt) {
  EXPECT_THAT(refusal(nullptr), HasSubstr("no manifest"));
  PluginManifest manifest = good();
  manifest.magic = 0xdeadbeef;
  EXPECT_THAT(refusal(&manifest), HasSubstr("0xdeadbeef"));
  manifest = good();
  manifest.size = 12;
  EXPECT_THAT(refusal(&manifest), HasSubstr("12 bytes"));
}

TEST(Handshake, VersionZeroIsRefused) {
  PluginManifest manifest = good();
  manifest.interface_revision = 0;
  EXPECT_THAT(refusal(&manifest), HasSubstr("interface 0.0"));
  EXPECT_FALSE(check_interface("x", {1, 0}, {1, 5}).has_value());
}

TEST(Handshake, WhileTheMajorIsZeroTheRevisionMustBeTheSameAndTheMessageNamesBoth) {
  const auto result = check_interface("mine", {0, 7}, {0, 8});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(), AllOf(HasSubstr("0.7"), HasSubstr("0.8"), HasSubstr("not frozen")));
}

TEST(Handshake, OnceFrozenOlderAndNewerRevisionsOfOneMajorAreAccepted) {
  EXPECT_TRUE(check_interface("mine", {1, 4}, {1, 5}).has_value());
  EXPECT_TRUE(check_interface("mine", {1, 6}, {1, 5}).has_value());
}

TEST(Handshake, AnotherMajorIsRefusedAndBothNumbersAreShown) {
  const auto result = check_interface("mine", {2, 5}, {1, 5});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message(), AllOf(HasSubstr("2.5"), HasSubstr("1.5")));
}

TEST(Handshake, NullMembersAreRefused) {
  PluginManifest manifest = good();
  manifest.name = nullptr;
  EXPECT_THAT(refusal(&manifest), HasSubstr("null"));
  manifest = good();
  manifest.destroy = nullptr;
  EXPECT_THAT(refusal(&manifest), HasSubstr("null"));
}

TEST(Handshake, AnotherToolchainIsRefusedAndThePartThatDiffersIsNamed) {
  const auto message = [](std::string_view plugin) {
    const auto result = check_toolchain("mine", plugin, "linux-x86_64 itanium libstdc++-cxx11");
    EXPECT_FALSE(result.has_value());
    return result ? std::string() : result.error().message();
  };
  EXPECT_THAT(message("linux-x86_64 itanium libc++"),
              AllOf(HasSubstr("standard library: \"libc++\" there, \"libstdc++-cxx11\" here"),
                    Not(HasSubstr("processor"))));
  EXPECT_THAT(message("linux-aarch64 itanium libstdc++-cxx11"), HasSubstr("processor: \"aarch64\" there"));
  EXPECT_THAT(message("windows-x86_64 msvc msvc-stl"),
              AllOf(HasSubstr("operating system"), HasSubstr("C++ ABI"), HasSubstr("standard library")));
  EXPECT_THAT(message("linux-x86_64 itanium libstdc++-cxx11 debug-containers"),
              HasSubstr("\"debug-containers\" there, none here"));
  EXPECT_THAT(message("garbage"), HasSubstr("operating system"));
}

TEST(Handshake, LibraryAndManifestFileMustAgree) {
  const PluginManifest manifest = good();
  ManifestFile file = good_file();
  file.name = "yours";
  EXPECT_THAT(refusal(&manifest, &file),
              AllOf(HasSubstr("\"mine\""), HasSubstr("\"yours\""), HasSubstr("name")));
  file = good_file();
  file.version = "2.0";
  EXPECT_THAT(refusal(&manifest, &file), HasSubstr("version"));
  file = good_file();
  file.interface.revision = 99;
  EXPECT_THAT(refusal(&manifest, &file), HasSubstr("0.99"));
}

}  // namespace
}  // namespace backplane
