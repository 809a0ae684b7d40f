#include "runtime/device_selector.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceDescription device() {
  DeviceDescription description;
  description.id = DeviceId{1};
  description.properties.name = "Test device";
  description.properties.uuid = "00112233445566778899aabbccddeeff";
  description.properties.pci_address = "0000:3b:00.0";
  return description;
}

bool means(std::string_view text) {
  const DeviceSelector selector = parse_device_selector(text).value();
  EXPECT_EQ(selector.plugin, "cuda");
  return matches(selector, device());
}

TEST(DeviceSelector, APluginAloneMeansAnyDeviceOfIt) {
  EXPECT_TRUE(means("cuda"));
}

TEST(DeviceSelector, ANumberMeansTheDeviceWithThatId) {
  EXPECT_TRUE(means("cuda:1"));
  EXPECT_FALSE(means("cuda:0"));
}

TEST(DeviceSelector, AUuidIsUnderstoodAsToolsPrintIt) {
  EXPECT_TRUE(means("cuda:uuid=00112233445566778899aabbccddeeff"));
  EXPECT_TRUE(means("cuda:uuid=GPU-00112233-4455-6677-8899-AABBCCDDEEFF"));
  EXPECT_FALSE(means("cuda:uuid=10112233445566778899aabbccddeeff"));
}

TEST(DeviceSelector, APciAddressMayLeaveOutItsDomainOrHaveALongOne) {
  EXPECT_TRUE(means("cuda:pci=0000:3b:00.0"));
  EXPECT_TRUE(means("cuda:pci=3B:00.0"));
  EXPECT_TRUE(means("cuda:pci=00000000:3B:00.0"));
  EXPECT_FALSE(means("cuda:pci=0001:3b:00.0"));
}

TEST(DeviceSelector, WhatIsMalformedIsRefusedWithAnExample) {
  for (const char* bad : {"", ":0", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999",
                          "cuda:uuid=", "cuda:uuid=12", "cuda:pci=", "cuda:pci=zz:00.0",
                          "cuda:pci=10000:3b:00.0", "cuda:name=x"}) {
    const auto selector = parse_device_selector(bad);
    ASSERT_FALSE(selector.has_value()) << bad;
    EXPECT_EQ(selector.error().code(), ErrorCode::validation);
    EXPECT_THAT(selector.error().message(), HasSubstr("\"cuda:0\""));
  }
}

TEST(NoSuchDevice, ListsTheDevicesAndThePluginsThatCouldNotBeUsed) {
  const std::vector<RuntimeDevice> devices{
      {.plugin = "cpu", .id = DeviceId{0}, .properties = device().properties}};
  PluginReport cuda;
  cuda.name = "cuda";
  cuda.state = PluginState::no_device;
  cuda.reason = "libcuda.so.1 not found.";
  const Error error = no_such_device("cuda:0", devices, std::vector{cuda});
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("\"cuda:0\""), HasSubstr("cpu:0 (Test device)"),
                                     HasSubstr("cuda (no device): libcuda.so.1 not found.")));
}

TEST(NoSuchDevice, WithoutAnyPluginItSaysWhereToLook) {
  EXPECT_THAT(no_such_device("", {}, {}).message(), HasSubstr("BACKPLANE_ADD_PLUGINS"));
}

}  // namespace
}  // namespace backplane
