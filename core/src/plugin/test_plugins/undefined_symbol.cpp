#include "minimal_plugin.h"

// Needs a function that no library has.

namespace nowhere {
int function_that_no_library_has(int value);
}

namespace {

class Plugin final : public backplane::test::MinimalPlugin {
 public:
  explicit Plugin(backplane::IHost& host) : MinimalPlugin(host) {
    value_ = nowhere::function_that_no_library_has(1);
  }

 private:
  int value_ = 0;
};

}  // namespace

BACKPLANE_PLUGIN(Plugin)
