#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include <backplane/runtime.h>

#include "runtime/runtime_state.h"

// Ends without having shut anything down: plugins are loaded, a server exists, and a static object holds
// them.

namespace {

struct Held {
  std::optional<backplane::Runtime> runtime;
  backplane::SelectedDevice device;
  std::unique_ptr<backplane::IServer> server;
};

Held& held() {
  static Held held;
  return held;
}

}  // namespace

int main(int argument_count, char** arguments) {
  auto runtime = backplane::Runtime::open();
  if (!runtime) {
    std::cerr << runtime.error() << '\n';
    return EXIT_FAILURE;
  }
  held().runtime = *runtime;
  auto selected = runtime->state()->select();
  if (!selected) {
    std::cerr << selected.error() << '\n';
    return EXIT_FAILURE;
  }
  held().device = *selected;
  held().server = selected->plugin->create_server(selected->device.id).value();
  if (argument_count > 1 && std::string_view(arguments[1]) == "quick") std::quick_exit(EXIT_SUCCESS);
  return EXIT_SUCCESS;
}
