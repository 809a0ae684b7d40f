#include <array>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include <backplane/runtime.h>

// Ends without having shut anything down: a static object holds the runtime, a client with work behind it,
// and memory.

namespace {

struct Held {
  std::optional<backplane::Runtime> runtime;
  std::optional<backplane::Client> client;
  std::optional<backplane::BufferHandle> buffer;
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
  auto client = runtime->client();
  if (!client) {
    std::cerr << client.error() << '\n';
    return EXIT_FAILURE;
  }
  held().client = *client;
  held().buffer = client->allocate(4096);
  client->write_bytes(*held().buffer, std::array<std::byte, 4096>{});
  if (argument_count > 1 && std::string_view(arguments[1]) == "quick") std::quick_exit(EXIT_SUCCESS);
  return EXIT_SUCCESS;
}
