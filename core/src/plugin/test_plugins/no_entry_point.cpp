// A library like any other: nothing in it is a plugin.
extern "C" __attribute__((visibility("default"))) int backplane_test_answer() {
  return 42;
}
