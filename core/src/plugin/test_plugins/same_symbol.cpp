#include <string>

#include "minimal_plugin.h"

// Stands for two versions of one library, each linked into a plugin of its own: the same names, visible and
// of the kind that the loader would merge for the whole process, with different values.

namespace shared_library {

struct __attribute__((visibility("default"))) Version {
  static inline int number = SHARED_LIBRARY_VERSION;
};

__attribute__((visibility("default"), noinline)) int version() {
  static int calls = 0;
  return ++calls > 0 ? Version::number : 0;
}

}  // namespace shared_library

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  using MinimalPlugin::MinimalPlugin;

  backplane::Result<std::vector<backplane::DeviceDescription>> devices() override {
    return std::vector{describe(0, "version " + std::to_string(shared_library::version()))};
  }
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
