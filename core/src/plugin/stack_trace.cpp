#include "plugin/stack_trace.h"

#include <string>

#include <boost/stacktrace.hpp>

namespace backplane {

std::string current_stack_trace() {
  constexpr std::size_t kSkippedFrames = 1;  // this function's own
  constexpr std::size_t kMostFrames = 64;
  return boost::stacktrace::to_string(boost::stacktrace::stacktrace(kSkippedFrames, kMostFrames));
}

}  // namespace backplane
