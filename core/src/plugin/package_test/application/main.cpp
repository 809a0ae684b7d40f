#include <cstdlib>
#include <iostream>

#include <backplane/runtime.h>

int main() {
  const backplane::Runtime runtime = backplane::Runtime::open().value();
  const auto device = runtime.device("outside:0");
  if (!device) {
    std::cerr << device.error() << '\n';
    return EXIT_FAILURE;
  }
  std::cout << device->properties.name << '\n';
  return EXIT_SUCCESS;
}
