#pragma once

#include <cstdint>
#include <functional>

namespace backplane::bench {

/// Instructions that `work` takes on this thread, without the call itself: counted one by one in a child
/// process that is stepped through, which needs no hardware counters and is the same on every machine. Takes
/// microseconds for each. Throws `std::runtime_error` where processes cannot be traced.
std::uint64_t count_instructions(const std::function<void()>& work);

}  // namespace backplane::bench
