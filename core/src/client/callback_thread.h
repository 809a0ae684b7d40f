#pragma once

#include <chrono>
#include <functional>

namespace backplane {

/// Asks until `deadline` whether something is complete, and finishes it if it is. True when it is finished.
using CompletionPoll = std::function<bool(std::chrono::steady_clock::time_point deadline)>;

/// Has the process's callback thread wait for something and finish it, instead of the calling thread. The
/// thread starts with the first call and lives as long as the process. Any thread; does not block. False in a
/// child of fork, where no such thread exists.
bool finish_on_callback_thread(CompletionPoll poll);

}  // namespace backplane
