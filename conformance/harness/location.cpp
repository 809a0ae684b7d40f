#include "harness/location.h"

namespace backplane::conformance {

std::filesystem::path kernel_directory() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "share/backplane/conformance/kernels";
}

}  // namespace backplane::conformance
