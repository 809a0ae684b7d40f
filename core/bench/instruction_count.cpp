#include "instruction_count.h"

#include <csignal>
#include <stdexcept>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace backplane::bench {
namespace {

[[noreturn]] void run_traced(const std::function<void()>& work) {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
  raise(SIGSTOP);
  work();
  _exit(0);
}

/// From where the child stops to where it exits.
std::uint64_t count_steps(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process can be started to count instructions in");
  if (child == 0) run_traced(work);
  int status = 0;
  std::uint64_t steps = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    ++steps;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("a process cannot be stepped through");
  return steps;
}

}  // namespace

std::uint64_t count_instructions(const std::function<void()>& work) {
  return count_steps(work) - count_steps([] {});
}

}  // namespace backplane::bench
