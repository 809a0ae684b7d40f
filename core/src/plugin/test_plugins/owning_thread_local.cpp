#include <memory>
#include <string>

#include "minimal_plugin.h"

// Every thread that asks for devices leaves an object behind that the plugin's code destroys.

namespace {

struct Owned {
  explicit Owned(std::string value) : text(std::move(value)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { text.assign("destroyed by the code of the plugin, at the end of the thread"); }

  std::string text;
};

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    static thread_local std::unique_ptr<Owned> owned;
    owned = std::make_unique<Owned>("a text that is too long for the string itself");
    return std::vector{describe(0, owned->text)};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
