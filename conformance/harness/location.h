#pragma once

#include <filesystem>

namespace backplane::conformance {

/// Where the suite's compiled kernels are: beside this program's own installation.
std::filesystem::path kernel_directory();

}  // namespace backplane::conformance
