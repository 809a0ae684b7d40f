#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

namespace backplane {

/// One instruction; `words[0]` is the opcode word. Borrows the module's words.
struct SpirvInstruction {
  spv::Op opcode;
  std::uint32_t type_id;    ///< 0 if it has none.
  std::uint32_t result_id;  ///< 0 if it has none.
  std::span<const std::uint32_t> words;
};

/// A valid SPIR-V module, indexed for reading. Borrows the words it was made from. Immutable; any thread.
class SpirvModule {
 public:
  explicit SpirvModule(std::span<const std::uint32_t> words);

  [[nodiscard]] const std::vector<SpirvInstruction>& instructions() const noexcept { return instructions_; }

  /// The instruction that defines an id. Requires that one does, as a valid module guarantees.
  [[nodiscard]] const SpirvInstruction& definition(std::uint32_t id) const {
    return instructions_[definitions_.at(id)];
  }

  /// The first operand of a decoration (0 if it has none), or nothing if `id` is not so decorated.
  [[nodiscard]] std::optional<std::uint32_t> decoration(std::uint32_t id, spv::Decoration decoration) const;
  [[nodiscard]] std::optional<std::uint32_t> member_decoration(std::uint32_t structure, std::uint32_t member,
                                                               spv::Decoration decoration) const;

  /// The value of an integer constant of up to 64 bits; 0 for anything else.
  [[nodiscard]] std::uint64_t constant(std::uint32_t id) const;

  /// Bytes from the first to the last byte of a type with explicit layout; a runtime array counts as one
  /// element.
  [[nodiscard]] std::uint64_t explicit_size(std::uint32_t type) const { return size(type, 0, true); }

  /// Bytes of a type without explicit layout, naturally aligned.
  [[nodiscard]] std::uint64_t natural_size(std::uint32_t type) const { return size(type, 0, false); }

 private:
  std::uint64_t size(std::uint32_t type, std::uint32_t matrix_stride, bool explicit_layout) const;
  std::uint64_t structure_size(const SpirvInstruction& structure, bool explicit_layout) const;
  std::uint64_t natural_alignment(std::uint32_t type) const;

  std::vector<SpirvInstruction> instructions_;
  std::unordered_map<std::uint32_t, std::size_t> definitions_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> decorations_;
};

/// A string operand that begins at `words[0]`, and how many words it takes.
struct SpirvString {
  std::string text;
  std::size_t word_count;
};
SpirvString read_string(std::span<const std::uint32_t> words);

}  // namespace backplane
