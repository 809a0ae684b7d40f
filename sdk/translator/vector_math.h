#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace backplane::translator {

/// The C library's vector mathematics, where this machine has it; null elsewhere.
inline constexpr const char* kVectorMathLibrary = "libmvec.so.1";

/// Whether the library can be opened. It stays open.
bool has_vector_math();

/// Tells the vectoriser which vector functions there are, as far as `machine` has the registers for them.
void add_vector_math(llvm::TargetLibraryInfoImpl& library, const llvm::TargetMachine& machine);

}  // namespace backplane::translator
