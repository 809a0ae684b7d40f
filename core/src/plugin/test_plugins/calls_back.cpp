#include "minimal_plugin.h"

// Uses everything the host offers while it is made, while it is asked, and while it is destroyed.

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  explicit Plugin(backplane::IHost& host) : MinimalPlugin(host) { call_back("constructor"); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() override { call_back("destructor"); }

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    call_back("devices");
    return MinimalPlugin::devices();
  }

 private:
  void call_back(const char* from) {
    static_cast<void>(host_.config_text("streaming.policy"));
    static_cast<void>(host_.config_integer("streaming.max_streams"));
    host_.record("test", "{}");
    host_.trace({.category = "test", .name = from, .track = "test", .begin = 0, .end = 1});
    static_cast<void>(host_.stack_trace());
    host_.logger("test")->log(backplane::LogLevel::warning, from);
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
