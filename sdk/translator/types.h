#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "module.h"

namespace llvm {
class LLVMContext;
class Type;
}  // namespace llvm

namespace backplane::translator {

enum class TypeKind : std::uint8_t {
  nothing,
  boolean,
  integer,
  floating,
  vector,
  matrix,
  array,
  runtime_array,
  structure,
  pointer,
  function
};

/// How a matrix lies in memory; a stride of 0 is one column after the other.
struct MatrixLayout {
  std::uint32_t stride = 0;
  bool is_row_major = false;

  bool operator==(const MatrixLayout&) const = default;
};

struct Type;

struct Member {
  const Type* type = nullptr;
  std::uint64_t offset = 0;  ///< Bytes from the start of the structure.
  MatrixLayout matrix;       ///< For matrices in it, through any number of arrays.
};

/// A SPIR-V type: what its values are in registers and where its parts lie in memory. Immutable once made.
///
/// Memory is always addressed by bytes. Where the module gives offsets and strides they are used; elsewhere
/// every part follows the one before, aligned to its scalars, and a boolean is a byte.
struct Type {
  TypeKind kind = TypeKind::nothing;
  std::uint32_t width = 0;  ///< Bits of a scalar.
  bool is_signed = false;   ///< Of an integer.
  std::uint32_t count = 0;  ///< Of a vector's components, a matrix's columns, an array's elements.
  const Type* element =
      nullptr;  ///< Of a vector, matrix (its column) or array; what a pointer points to; a result.
  std::vector<Member> members;                              ///< Of a structure.
  std::vector<const Type*> parameters;                      ///< Of a function.
  spv::StorageClass storage = spv::StorageClass::Function;  ///< Of a pointer.
  std::uint64_t stride = 0;                                 ///< Bytes from element to element of an array.
  std::uint64_t size = 0;       ///< Bytes; of a matrix, with columns one after the other.
  std::uint32_t alignment = 1;  ///< Bytes.
  std::uint64_t scalars = 1;    ///< How many scalars a value has.
  std::uint32_t depth = 0;      ///< How deep types are nested in it.
  llvm::Type* value = nullptr;  ///< What a value is in LLVM; null where there are none.

  bool is_scalar() const {
    return kind == TypeKind::boolean || kind == TypeKind::integer || kind == TypeKind::floating;
  }
  bool is_array() const { return kind == TypeKind::array || kind == TypeKind::runtime_array; }
  bool is_composite() const { return is_array() || kind == TypeKind::structure || kind == TypeKind::matrix; }
  /// The scalar of a scalar or vector.
  const Type& scalar() const { return kind == TypeKind::vector ? *element : *this; }
  std::uint32_t components() const { return kind == TypeKind::vector ? count : 1; }
};

/// All types of a module. One thread at a time.
class TypeTable {
 public:
  /// Reads every type of the module. Throws `Failure`. Both must outlive the table.
  TypeTable(const Module& module, llvm::LLVMContext& context);
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  /// The type with that id; a malformed module where it is none.
  const Type& get(Id id, const Instruction& user) const;

 private:
  void add(const Instruction& instruction);
  void read_scalar(const Instruction& instruction, Type& type);
  void read_vector(const Instruction& instruction, Type& type);
  void read_matrix(const Instruction& instruction, Type& type);
  void read_array(const Instruction& instruction, Type& type);
  void read_structure(const Instruction& instruction, Type& type);
  void read_member(const Instruction& instruction, std::uint32_t index, bool is_explicit, Type& type);
  void read_pointer(const Instruction& instruction, Type& type);
  void read_function(const Instruction& instruction, Type& type);
  const Type& part(const Instruction& instruction, Id id, Type& type) const;
  MatrixLayout member_matrix(const Instruction& instruction, std::uint32_t index, const Type& member) const;

  const Module& module_;
  llvm::LLVMContext& context_;
  std::unordered_map<Id, std::unique_ptr<Type>> types_;
};

/// The literal of an OpConstant of at most 64 bits.
std::uint64_t constant_literal(const Instruction& constant);

}  // namespace backplane::translator
