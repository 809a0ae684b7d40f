#include "plugin/registry.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/host.h"
#include "plugin/test_support.h"

namespace backplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A directory with the plugins that a test asks for, and a registry over it.
class RegistryTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(plugins_); }

  PluginRegistry& open() {
    options_.search.code.insert(options_.search.code.begin(), plugins_);
    registry_.emplace(options_, services_);
    return *registry_;
  }

  void add(std::string_view name) const { test::install_plugin(name, plugins_); }

  /// Writes a manifest over the one that `add` copied.
  void write_manifest(std::string_view name, std::string_view text) const {
    std::ofstream(plugins_ / (std::string(name) + ".plugin.toml")) << text;
  }

  [[nodiscard]] PluginReport report_of(std::string_view name) {
    for (PluginReport& plugin : registry_->listing().plugins) {
      if (plugin.name == name) return plugin;
    }
    ADD_FAILURE() << name << " is not listed";
    return {};
  }

  [[nodiscard]] std::string load_failure(std::string_view name) {
    const auto loaded = registry_->load(name);
    EXPECT_FALSE(loaded.has_value());
    return loaded ? std::string() : loaded.error().to_string();
  }

  [[nodiscard]] bool is_mapped() const { return test::is_mapped(directory_.path().filename().string()); }

  test::TempDirectory directory_;
  std::filesystem::path plugins_ = directory_.path() / "plugins";
  std::vector<std::string> log_;
  std::shared_ptr<HostServices> services_ = std::make_shared<HostServices>(
      [this](const LogRecord& record) { on_log(record); }, std::filesystem::path());
  RegistryOptions options_;
  std::optional<PluginRegistry> registry_;
  std::function<void(const LogRecord&)> on_log = [](const LogRecord& /*record*/) {};
};

TEST_F(RegistryTest, ListingRunsNoCodeOfAPlugin) {
  add("good");
  const RuntimeReport report = open().listing();
  ASSERT_EQ(report.plugins.size(), 1U);
  EXPECT_EQ(report.plugins[0].name, "good");
  EXPECT_EQ(report.plugins[0].version, "1.2.3");
  EXPECT_EQ(report.plugins[0].state, PluginState::available);
  EXPECT_EQ(report.plugins[0].priority, 5);
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistryTest, AGoodPluginIsLoadedAndListsItsDevices) {
  add("good");
  const RuntimeReport report = open().report();
  ASSERT_EQ(report.plugins.size(), 1U);
  EXPECT_EQ(report.plugins[0].state, PluginState::loaded) << report.plugins[0].reason;
  ASSERT_EQ(report.plugins[0].devices.size(), 2U);
  EXPECT_EQ(report.plugins[0].devices[0].properties.name, "First of good");
}

TEST_F(RegistryTest, AServerIsMadeAndRunsWithDefaults) {
  add("good");
  auto plugin = open().load("good").value();
  auto server = plugin->create_server(DeviceId{0}).value();
  EXPECT_TRUE(server->flush(StreamId{1}).has_value());
  EXPECT_EQ(server->begin_capture(StreamId{1}).error().code(), ErrorCode::unsupported_operation);
  EXPECT_EQ(plugin->create_server(DeviceId{9}).error().code(), ErrorCode::not_found);
}

TEST_F(RegistryTest, AnUndefinedSymbolIsNamedAndDoesNotLookLikeNoDevices) {
  add("undefined_symbol");
  open();
  EXPECT_THAT(load_failure("undefined_symbol"),
              AllOf(HasSubstr("undefined symbol"), HasSubstr("nowhere::function_that_no_library_has(int)")));
  EXPECT_EQ(report_of("undefined_symbol").state, PluginState::failed);
  EXPECT_THAT(report_of("undefined_symbol").reason, HasSubstr("undefined symbol"));
}

TEST_F(RegistryTest, AMissingEntryPointIsReported) {
  add("no_entry_point");
  open();
  EXPECT_THAT(load_failure("no_entry_point"), HasSubstr("does not export \"backplane_plugin_v1\""));
  EXPECT_EQ(report_of("no_entry_point").state, PluginState::failed);
}

TEST_F(RegistryTest, AFailedProbeLeavesNoMappingBehind) {
  for (const char* name : {"undefined_symbol", "no_entry_point", "stale_magic", "throwing_constructor"})
    add(name);
  open();
  static_cast<void>(registry_->report());
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistryTest, AStaleHandshakeIsRefusedWhateverTheManifestFileSays) {
  for (const char* name : {"stale_magic", "stale_major", "stale_revision", "stale_zero", "stale_name"})
    add(name);
  open();
  EXPECT_THAT(load_failure("stale_magic"), HasSubstr("no plugin manifest"));
  EXPECT_THAT(load_failure("stale_major"),
              AllOf(HasSubstr("interface 9."), HasSubstr("this host speaks 0.")));
  EXPECT_THAT(load_failure("stale_revision"), HasSubstr("interface 0.999"));
  EXPECT_THAT(load_failure("stale_zero"), HasSubstr("interface 0.0"));
  EXPECT_THAT(load_failure("stale_name"), AllOf(HasSubstr("\"another\""), HasSubstr("\"stale_name\"")));
  for (const PluginReport& plugin : registry_->listing().plugins)
    EXPECT_EQ(plugin.state, PluginState::refused);
}

TEST_F(RegistryTest, AManifestForAnotherInterfaceOrToolchainIsRefusedWithoutOpeningTheLibrary) {
  add("good");
  write_manifest("good", test::replaced(test::manifest_text("good"), "major = 0", "major = 2"));
  add("also_good");
  write_manifest("also_good", test::replaced(test::manifest_text("also_good"), "itanium", "msvc"));
  open();
  EXPECT_THAT(report_of("good").reason, AllOf(HasSubstr("interface 2."), HasSubstr("speaks 0.")));
  EXPECT_THAT(report_of("also_good").reason, HasSubstr("C++ ABI"));
  EXPECT_FALSE(registry_->load("good").has_value());
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistryTest, OneFailingPluginBetweenTwoGoodOnesTakesNothingFromThem) {
  add("also_good");
  add("good");
  add("throwing_constructor");
  test::install_plugin("same_symbol_1", plugins_);
  std::ofstream(plugins_ / "broken.plugin.toml") << "name = ";
  open();
  static_cast<void>(registry_->report());
  EXPECT_EQ(report_of("also_good").state, PluginState::loaded);
  EXPECT_EQ(report_of("broken").state, PluginState::refused);
  EXPECT_EQ(report_of("good").state, PluginState::loaded);
  EXPECT_EQ(report_of("same_symbol_1").state, PluginState::loaded);
  EXPECT_EQ(report_of("throwing_constructor").state, PluginState::failed);
  EXPECT_THAT(report_of("throwing_constructor").reason, HasSubstr("the driver is out of order"));
}

TEST_F(RegistryTest, AManifestWhoseLibraryIsGoneIsReportedAndTheRestWorks) {
  add("good");
  add("also_good");
  std::filesystem::remove(plugins_ / "libbackplane_good.so");
  open();
  static_cast<void>(registry_->report());
  EXPECT_THAT(report_of("good").reason,
              AllOf(HasSubstr("libbackplane_good.so"), HasSubstr("cannot be opened")));
  EXPECT_EQ(report_of("good").state, PluginState::refused);
  EXPECT_EQ(report_of("also_good").state, PluginState::loaded);
}

TEST_F(RegistryTest, AnUnrelatedLibraryIsNeitherOpenedNorReported) {
  add("no_entry_point");
  std::filesystem::remove(plugins_ / "no_entry_point.plugin.toml");
  add("good");
  open();
  EXPECT_EQ(registry_->report().plugins.size(), 1U);
  EXPECT_FALSE(test::is_mapped("libbackplane_no_entry_point.so"));
}

TEST_F(RegistryTest, ManifestsThatAreNoFilesOrNoTextAreListedWithTheReason) {
  std::filesystem::create_directories(plugins_ / "directory.plugin.toml");
  std::filesystem::create_symlink("gone", plugins_ / "dangling.plugin.toml");
  std::filesystem::create_symlink("self.plugin.toml", plugins_ / "self.plugin.toml");
  write_manifest("empty", "");
  write_manifest("huge", "x");
  std::filesystem::resize_file(plugins_ / "huge.plugin.toml", std::uint64_t{100} << 20);
  ASSERT_EQ(mkfifo((plugins_ / "pipe.plugin.toml").c_str(), 0600), 0);
  open();
  EXPECT_THAT(report_of("directory").reason, HasSubstr("is a directory"));
  EXPECT_THAT(report_of("dangling").reason, HasSubstr("a file that does not exist"));
  EXPECT_THAT(report_of("self").reason, HasSubstr("in a circle"));
  EXPECT_THAT(report_of("empty").reason, HasSubstr("is empty"));
  EXPECT_THAT(report_of("huge").reason, HasSubstr("104857600 bytes"));
  EXPECT_THAT(report_of("pipe").reason, HasSubstr("is a pipe"));
}

TEST_F(RegistryTest, ALibraryThatDependsOnAnotherBesideItIsLoadedFromAnywhere) {
  add("with_dependency");
  std::filesystem::copy_file(
      std::filesystem::path(BACKPLANE_TEST_PLUGIN_DIRECTORY) / "libbackplane_test_dependency.so",
      plugins_ / "libbackplane_test_dependency.so");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path("/");
  const auto devices = open().devices("with_dependency");
  std::filesystem::current_path(before);
  ASSERT_TRUE(devices.has_value()) << devices.error();
  EXPECT_EQ(devices->front().properties.name, "The dependency says 7");
}

TEST_F(RegistryTest, TwoPluginsWithTheSameSymbolsKeepEachItsOwn) {
  add("same_symbol_1");
  add("same_symbol_2");
  open();
  EXPECT_EQ(registry_->devices("same_symbol_1").value().front().properties.name, "version 1");
  EXPECT_EQ(registry_->devices("same_symbol_2").value().front().properties.name, "version 2");
  EXPECT_EQ(registry_->devices("same_symbol_1").value().front().properties.name, "version 1");
}

TEST_F(RegistryTest, AFailedLoadTriedAgainReportsTheOriginalCause) {
  add("throwing_constructor");
  open();
  const std::string first = load_failure("throwing_constructor");
  EXPECT_THAT(first, HasSubstr("the driver is out of order"));
  EXPECT_EQ(load_failure("throwing_constructor"), first);
}

TEST_F(RegistryTest, ThrowingDevicesAreAnErrorWithTheExceptionsText) {
  add("throwing_devices");
  open();
  const auto devices = registry_->devices("throwing_devices");
  ASSERT_FALSE(devices.has_value());
  EXPECT_EQ(devices.error().code(), ErrorCode::exception);
  EXPECT_THAT(devices.error().to_string(), HasSubstr("the bus is on fire"));
  EXPECT_EQ(report_of("throwing_devices").state, PluginState::failed);
  const auto server = registry_->load("throwing_devices").value()->create_server(DeviceId{0});
  EXPECT_THAT(server.error().to_string(), HasSubstr("no std::exception"));
}

TEST_F(RegistryTest, APluginWithoutDevicesSaysWhy) {
  add("no_device");
  open();
  EXPECT_EQ(registry_->devices("no_device").error().code(), ErrorCode::no_device);
  EXPECT_EQ(report_of("no_device").state, PluginState::no_device);
  EXPECT_EQ(report_of("no_device").reason, "libtest.so.1 was not found; install the driver.");
}

TEST_F(RegistryTest, AnErrorOutlivesThePluginThatMadeIt) {
  add("no_device");
  open();
  const Error error = registry_->devices("no_device").error();
  ASSERT_TRUE(registry_->unload("no_device").has_value());
  ASSERT_FALSE(is_mapped());
  EXPECT_THAT(error.to_string(), HasSubstr("libtest.so.1 was not found"));
}

TEST_F(RegistryTest, UnloadAnswersBusyWhileAnythingHoldsThePlugin) {
  add("good");
  open();
  auto held = registry_->load("good").value();
  const auto refused = registry_->unload("good");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::busy);
  EXPECT_TRUE(held->devices().has_value());
  held.reset();
  EXPECT_TRUE(registry_->unload("good").has_value());
  EXPECT_FALSE(is_mapped());
  EXPECT_EQ(registry_->unload("good").error().code(), ErrorCode::not_found);
}

TEST_F(RegistryTest, AnUnloadedPluginCanBeLoadedAgain) {
  add("good");
  open();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(registry_->devices("good").has_value());
    ASSERT_TRUE(registry_->unload("good").has_value());
    EXPECT_EQ(report_of("good").state, PluginState::available);
  }
}

TEST_F(RegistryTest, TheLibraryStaysUnlessTheManifestAllowsClosingIt) {
  add("good");
  write_manifest("good", test::replaced(test::manifest_text("good"), "unload = true", "unload = false"));
  open();
  ASSERT_TRUE(registry_->devices("good").has_value());
  ASSERT_TRUE(registry_->unload("good").has_value());
  EXPECT_TRUE(is_mapped());
}

TEST_F(RegistryTest, APluginOutlivesItsRegistryWhileItIsHeld) {
  add("good");
  auto held = open().load("good").value();
  registry_.reset();
  EXPECT_TRUE(held->devices().has_value());
  held.reset();
  EXPECT_FALSE(is_mapped());
}

TEST_F(RegistryTest, AThreadLocalThatOwnsSomethingSurvivesThePluginsEnd) {
  add("owning_thread_local");
  open();
  std::thread([&] { EXPECT_TRUE(registry_->devices("owning_thread_local").has_value()); }).join();
  std::thread([&] {
    EXPECT_TRUE(registry_->devices("owning_thread_local").has_value());
    EXPECT_TRUE(registry_->unload("owning_thread_local").has_value());
  }).join();
}

TEST_F(RegistryTest, APluginThatCallsBackFromConstructorAndDestructorDoesNotDeadlock) {
  add("calls_back");
  std::vector<std::string> heard;
  on_log = [&](const LogRecord& record) {
    if (record.source != "calls_back") return;
    heard.emplace_back(record.message);
    // Whatever an application's callback may do: ask for the list, and for the very plugin that is speaking.
    EXPECT_EQ(registry_->listing().plugins.size(), 1U);
    const auto nested = registry_->devices("calls_back");
    ASSERT_FALSE(nested.has_value());
    EXPECT_EQ(nested.error().code(), ErrorCode::re_entered);
    EXPECT_EQ(registry_->unload("calls_back").error().code(), ErrorCode::busy);
  };
  open();
  ASSERT_TRUE(registry_->devices("calls_back").has_value());
  ASSERT_TRUE(registry_->unload("calls_back").has_value());
  EXPECT_THAT(heard, testing::ElementsAre("constructor", "devices", "destructor"));
}

TEST_F(RegistryTest, ManyThreadsThatAskAtOnceGetOnePlugin) {
  add("good");
  open();
  constexpr int kThreads = 16;
  std::vector<std::shared_ptr<LoadedPlugin>> plugins(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (auto& plugin : plugins) threads.emplace_back([&] { plugin = registry_->load("good").value(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& plugin : plugins) EXPECT_EQ(plugin, plugins.front());
}

TEST_F(RegistryTest, TheSameNameTwiceTheFirstWinsAndTheOtherIsListedAsShadowed) {
  add("good");
  test::install_plugin("good", directory_.path() / "second");
  options_.search.code.push_back(directory_.path() / "second");
  const RuntimeReport report = open().listing();
  ASSERT_EQ(report.plugins.size(), 2U);
  EXPECT_EQ(report.plugins[0].state, PluginState::available);
  EXPECT_EQ(report.plugins[1].state, PluginState::shadowed);
  EXPECT_THAT(report.plugins[1].reason, HasSubstr(plugins_.string()));
}

TEST_F(RegistryTest, ARefusedPluginShadowsNothing) {
  add("good");
  write_manifest("good", test::replaced(test::manifest_text("good"), "major = 0", "major = 2"));
  test::install_plugin("good", directory_.path() / "second");
  options_.search.code.push_back(directory_.path() / "second");
  open();
  EXPECT_TRUE(registry_->load("good").has_value());
}

TEST_F(RegistryTest, APluginThatFailsToLoadLeavesItsNameToTheNext) {
  add("good");
  std::filesystem::resize_file(plugins_ / "libbackplane_good.so", 40'000);
  test::install_plugin("good", directory_.path() / "second");
  options_.search.code.push_back(directory_.path() / "second");
  open();
  EXPECT_TRUE(registry_->load("good").has_value());
  const RuntimeReport report = registry_->report();
  EXPECT_EQ(report.plugins[0].state, PluginState::failed);
  EXPECT_THAT(report.plugins[0].reason, HasSubstr("cut off after 40000 bytes"));
  EXPECT_EQ(report.plugins[1].state, PluginState::loaded);
}

TEST_F(RegistryTest, SelectAndDisableTakeGlobsAndDisableWins) {
  add("good");
  add("also_good");
  add("no_device");
  options_.select = {"*good"};
  options_.disable = {"also_*"};
  open();
  EXPECT_EQ(report_of("good").state, PluginState::available);
  EXPECT_EQ(report_of("also_good").state, PluginState::disabled);
  EXPECT_THAT(report_of("also_good").reason, HasSubstr("\"also_*\""));
  EXPECT_EQ(report_of("no_device").state, PluginState::disabled);
  EXPECT_THAT(load_failure("also_good"), HasSubstr("disabled"));
}

TEST_F(RegistryTest, WhatOthersCouldHaveWrittenIsRefusedUnlessAllowed) {
  add("good");
  add("also_good");
  std::filesystem::permissions(plugins_ / "libbackplane_good.so", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  std::filesystem::permissions(plugins_ / "also_good.plugin.toml", std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  open();
  EXPECT_THAT(report_of("good").reason,
              AllOf(HasSubstr("by everybody"), HasSubstr("BACKPLANE_ALLOW_UNTRUSTED")));
  EXPECT_EQ(report_of("also_good").state, PluginState::refused);
  options_.allow_untrusted = true;
  open();
  EXPECT_TRUE(registry_->devices("good").has_value());
  EXPECT_TRUE(registry_->devices("also_good").has_value());
}

TEST_F(RegistryTest, ALibraryNamedByTheUserNeedsNoManifestIfItsNameSaysItsPlugins) {
  const std::filesystem::path bare = directory_.path() / "bare";
  std::filesystem::create_directories(bare);
  const std::filesystem::path built(BACKPLANE_TEST_PLUGIN_DIRECTORY);
  std::filesystem::copy_file(built / "libbackplane_good.so", bare / "libbackplane_good.so");
  std::filesystem::copy_file(built / "libbackplane_also_good.so", bare / "libbackplane_renamed.so");
  options_.search.code = {bare / "libbackplane_good.so", bare / "libbackplane_renamed.so"};
  open();
  EXPECT_TRUE(registry_->devices("good").has_value());
  EXPECT_THAT(load_failure("renamed"), HasSubstr("calls itself \"also_good\""));
}

TEST_F(RegistryTest, PlacesThatCannotBeSearchedAreReportedAndNothingIsThrown) {
  options_.search.code = {directory_.path() / "not there", directory_.write("file", "")};
  const RuntimeReport report = open().listing();
  ASSERT_GE(report.places.size(), 3U);
  EXPECT_THAT(report.places[0].problem, IsEmpty());
  EXPECT_THAT(report.places[1].problem, HasSubstr("does not exist"));
  EXPECT_THAT(report.places[2].problem, HasSubstr("is a file"));
}

TEST_F(RegistryTest, AChildAfterForkListsPluginsAndIsToldThatItCannotUseThem) {
  add("good");
  open();
  ASSERT_TRUE(registry_->devices("good").has_value());
  auto held = registry_->load("good").value();
  const pid_t child = fork();
  if (child == 0) {
    const bool listed = registry_->listing().plugins.size() == 1 && registry_->report().plugins.size() == 1;
    const bool told = registry_->load("good").error().code() == ErrorCode::forked &&
                      held->devices().error().code() == ErrorCode::forked &&
                      registry_->unload("good").error().code() == ErrorCode::forked;
    held.reset();
    registry_.reset();
    _exit(listed && told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(held->devices().has_value());
}

TEST_F(RegistryTest, ATranslatorThatIsNotThereIsAnErrorThatNamesItsPlace) {
  HostServices services({}, directory_.path() / "libnone.so");
  const auto translator = services.translator();
  ASSERT_FALSE(translator.has_value());
  EXPECT_EQ(translator.error().code(), ErrorCode::plugin_load_failed);
  EXPECT_THAT(translator.error().message(), HasSubstr("libnone.so"));
}

TEST_F(RegistryTest, RecordsAreAppendedToTheConfiguredDirectoryPrivateToTheUser) {
  const auto records = directory_.path() / "records";
  services_->set_configuration(
      Configuration::load({.process = {}, .code = {{"environment.records", records.string()}}}).value());
  PluginHost host(services_, "mine");
  host.record("compilation", R"({"a":1})");
  host.record("compilation", R"({"a":2})");
  host.record("../escape", "{}");
  EXPECT_EQ(test::read_text(records / "compilation.jsonl"), "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(std::filesystem::status(records / "compilation.jsonl").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "escape.jsonl"));
}

}  // namespace
}  // namespace backplane
