#pragma once

#include <string>

#include "table.h"

namespace backplane::bench {

/// Fills a row whose budget is a number of instructions, by running `scenario` of `backplane_count` under
/// callgrind. Throws where that is not installed.
Row instruction_row(Row row, const std::string& scenario);

/// The same for the heap allocations that the program counts itself.
Row heap_row(Row row, const std::string& scenario);

}  // namespace backplane::bench
