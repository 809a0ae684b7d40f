#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace backplane::translator {

struct Instruction;

/// Why a module cannot be translated, as a sentence for people. Immutable, for any thread.
///
/// It is thrown by the translator's own code through its own frames alone, never through LLVM's, and becomes
/// a `TranslationOutput` at the C entry. Values instead would have to be tested after each of the several
/// hundred calls that build instructions, and one forgotten test would hand LLVM a null value.
class Failure : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t { malformed, unsupported };

  Failure(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  /// Whether the module may be valid and only uses something that the translator lacks.
  bool is_unsupported() const { return kind_ == Kind::unsupported; }

 private:
  Kind kind_;
};

/// The instruction is not what the specification allows.
[[noreturn]] void fail_malformed(const Instruction& instruction, const std::string& reason);
/// The instruction is allowed, and the translator cannot do it.
[[noreturn]] void fail_unsupported(const Instruction& instruction, const std::string& reason);
[[noreturn]] void fail_malformed(const std::string& reason);
[[noreturn]] void fail_unsupported(const std::string& reason);

}  // namespace backplane::translator
