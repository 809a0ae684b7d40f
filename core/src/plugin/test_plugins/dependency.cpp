// A library that a plugin brings along.
extern "C" __attribute__((visibility("default"))) int backplane_test_dependency() {
  return 7;
}
