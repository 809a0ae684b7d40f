#include "vector_math.h"

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <llvm/MC/MCSubtargetInfo.h>

namespace backplane::translator {
namespace {

struct Function {
  const char* name;
  unsigned arguments;
};

// What glibc 2.36 has in vector form and kernels can ask for.
constexpr std::array<Function, 18> kFunctions = {{{"sin", 1},
                                                  {"cos", 1},
                                                  {"tan", 1},
                                                  {"asin", 1},
                                                  {"acos", 1},
                                                  {"atan", 1},
                                                  {"sinh", 1},
                                                  {"cosh", 1},
                                                  {"tanh", 1},
                                                  {"asinh", 1},
                                                  {"acosh", 1},
                                                  {"atanh", 1},
                                                  {"atan2", 2},
                                                  {"pow", 2},
                                                  {"exp", 1},
                                                  {"log", 1},
                                                  {"exp2", 1},
                                                  {"log2", 1}}};

struct Isa {
  char letter;
  unsigned bytes;
  const char* feature;
};

constexpr std::array<Isa, 3> kIsas = {{{'b', 16, "+sse4.2"}, {'d', 32, "+avx2"}, {'e', 64, "+avx512f"}}};

struct Variant {
  std::string scalar;
  std::string vector;
  std::string prefix;
  unsigned lanes;
  const char* feature;
};

void* library() {
  // Never closed: linked kernels hold addresses in it.
  static void* const handle = dlopen(kVectorMathLibrary, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

/// The tables that LLVM is given hold views of these names, so they live as long as the process.
const std::vector<Variant>& variants() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> made;
    for (const Function& function : kFunctions) {
      for (const Isa& isa : kIsas) {
        for (const unsigned width : {4U, 8U}) {
          const unsigned lanes = isa.bytes / width;
          const std::string scalar = std::string(function.name) + (width == 4 ? "f" : "");
          const std::string shape = "N" + std::to_string(lanes) + std::string(function.arguments, 'v');
          Variant variant{.scalar = scalar,
                          .vector = std::string("_ZGV") + isa.letter + shape + "_" + scalar,
                          .prefix = "_ZGV_LLVM_" + shape,
                          .lanes = lanes,
                          .feature = isa.feature};
          if (dlsym(library(), variant.vector.c_str()) != nullptr) {
            made.push_back(std::move(variant));
          }
        }
      }
    }
    return made;
  }();
  return variants;
}

}  // namespace

bool has_vector_math() {
  return library() != nullptr;
}

void add_vector_math(llvm::TargetLibraryInfoImpl& library_info, const llvm::TargetMachine& machine) {
  if (!has_vector_math() || !machine.getTargetTriple().isX86()) {
    return;
  }
  std::vector<llvm::VecDesc> descriptions;
  for (const Variant& each : variants()) {
    if (machine.getMCSubtargetInfo()->checkFeatures(each.feature)) {
      descriptions.emplace_back(each.scalar, each.vector, llvm::ElementCount::getFixed(each.lanes), false,
                                each.prefix);
    }
  }
  library_info.addVectorizableFunctions(descriptions);
}

}  // namespace backplane::translator
