// A library that a plugin brings along.
extern "C" __attribute__((visibility("default"))) int test_dependency_value() {
  return 7;
}
