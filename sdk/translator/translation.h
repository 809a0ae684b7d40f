#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "module.h"
#include "types.h"

namespace backplane::translator {

/// A variable of module scope that the kernel uses. What it stands for is the target's to decide.
struct InterfaceVariable {
  const Instruction* definition = nullptr;
  const Type* type = nullptr;  ///< What it holds.
  spv::StorageClass storage = spv::StorageClass::Private;
  std::optional<spv::BuiltIn> builtin;  ///< Of an Input.
  std::uint32_t binding = 0;            ///< Of a buffer.
  bool is_restrict = false;
  bool is_read_only = false;
  llvm::Constant* initializer = nullptr;

  /// Whether it comes with a length beside its address.
  bool is_buffer() const {
    return storage == spv::StorageClass::StorageBuffer || storage == spv::StorageClass::Uniform;
  }
};

/// Turns the functions of a SPIR-V module into LLVM functions, one invocation at a time and the same for
/// every target: each function gets the address of every interface variable (and the length in bytes, i64, of
/// every buffer) before its own parameters. A target wraps the entry point's function. One thread at a time.
class Translation {
 public:
  /// Both must outlive it. Throws `Failure`.
  Translation(const Module& module, llvm::Module& output);
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  const Module& module() const { return module_; }
  const TypeTable& types() const { return types_; }
  llvm::Module& output() const { return output_; }
  const std::vector<InterfaceVariable>& interface() const { return interface_; }

  /// The function of one invocation of the entry point.
  llvm::Function* invocation() const;
  llvm::Function* function(Id id, const Instruction& user) const;
  /// A constant of module scope; null for anything else.
  llvm::Constant* constant(Id id) const;
  /// The value of a scalar integer constant; a malformed module where it is none.
  std::uint64_t integer_constant(Id id, const Instruction& user) const;
  /// Invocations per workgroup in each dimension.
  std::array<std::uint32_t, 3> workgroup_size() const;

 private:
  /// What a function comes to with everything that it calls.
  struct Cost {
    std::uint64_t instructions = 0;
    std::uint64_t private_bytes = 0;
    bool is_complete = false;
  };

  void make_constants();
  llvm::Constant* make_constant(const Instruction& instruction);
  llvm::Constant* make_composite(const Instruction& instruction, const Type& type);
  void collect_interface(const std::vector<Id>& functions);
  InterfaceVariable make_variable(const Instruction& definition) const;
  void read_buffer(const Instruction& definition, InterfaceVariable& variable) const;
  void declare(Id id, const Cost& cost);
  const Cost& measure(Id id, const Instruction& user, std::uint32_t depth);
  llvm::FunctionType* function_type(const Function& function) const;

  const Module& module_;
  llvm::Module& output_;
  TypeTable types_;
  std::unordered_map<Id, llvm::Constant*> constants_;
  std::vector<InterfaceVariable> interface_;
  std::unordered_map<Id, llvm::Function*> functions_;
  std::unordered_map<Id, Cost> costs_;
  std::vector<Id> order_;  ///< Functions the entry point reaches, callees first.
};

}  // namespace backplane::translator
