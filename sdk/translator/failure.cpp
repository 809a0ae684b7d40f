#include "failure.h"

#include <string>

#include "module.h"
#include "names.h"

namespace backplane::translator {
namespace {

std::string describe(const Instruction& instruction, const std::string& reason) {
  std::string text = opcode_name(instruction.opcode);
  if (instruction.result != 0) {
    text += " %" + std::to_string(instruction.result);
  }
  if (instruction.line.number != 0) {
    text += " (" + std::string(instruction.line.file) + ":" + std::to_string(instruction.line.number) + ")";
  }
  return text + ": " + reason;
}

}  // namespace

void fail_malformed(const Instruction& instruction, const std::string& reason) {
  throw Failure(Failure::Kind::malformed, describe(instruction, reason));
}

void fail_unsupported(const Instruction& instruction, const std::string& reason) {
  throw Failure(Failure::Kind::unsupported, describe(instruction, reason));
}

void fail_malformed(const std::string& reason) {
  throw Failure(Failure::Kind::malformed, reason);
}

void fail_unsupported(const std::string& reason) {
  throw Failure(Failure::Kind::unsupported, reason);
}

}  // namespace backplane::translator
