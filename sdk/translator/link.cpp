#include "link.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include "failure.h"
#include "half_conversion.h"
#include "host_target.h"
#include "vector_math.h"

namespace backplane::translator {
namespace {

template <typename T>
T take(llvm::Expected<T> expected, const char* operation) {
  if (!expected) {
    fail_malformed(std::string(operation) + ": " + llvm::toString(expected.takeError()));
  }
  return std::move(*expected);
}

void check(llvm::Error error, const char* operation) {
  if (error) {
    fail_malformed(std::string(operation) + ": " + llvm::toString(std::move(error)));
  }
}

/// Whether generated code may call it: an object may come from a store on disk, so the process's other
/// symbols are none of its business.
bool is_library_function(llvm::StringRef name) {
  static const std::set<llvm::StringRef> memory_functions = {"memcpy", "memmove", "memset", "memcmp",
                                                             "bzero"};
  static const std::set<llvm::StringRef> math_functions = {
      "sin",   "cos",   "tan",   "asin",  "acos",  "atan",      "sinh",   "cosh",     "tanh",
      "asinh", "acosh", "atanh", "atan2", "pow",   "exp",       "log",    "exp2",     "log2",
      "exp10", "floor", "ceil",  "trunc", "round", "rint",      "fma",    "fmod",     "sqrt",
      "frexp", "ldexp", "fmin",  "fmax",  "cbrt",  "roundeven", "sincos", "nearbyint"};
  return memory_functions.contains(name) || math_functions.contains(name) ||
         (name.consume_back("f") && math_functions.contains(name));
}

}  // namespace

/// LLVM's session of one kernel. A session each lets kernels come and go without a lock between them.
struct LinkedKernel::Session {
  explicit Session(std::unique_ptr<llvm::orc::ExecutorProcessControl> control)
      : execution(std::move(control)), linking(execution) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { llvm::consumeError(execution.endSession()); }

  void add_libraries(llvm::orc::JITDylib& library);

  llvm::orc::ExecutionSession execution;
  llvm::orc::ObjectLinkingLayer linking;
};

void LinkedKernel::Session::add_libraries(llvm::orc::JITDylib& library) {
  using llvm::orc::DynamicLibrarySearchGenerator;
  llvm::orc::SymbolMap halves;
  for (const HalfConversion& each : half_conversions()) {
    halves[execution.intern(each.symbol)] = {llvm::orc::ExecutorAddr::fromPtr(each.address),
                                             llvm::JITSymbolFlags::Exported};
  }
  check(library.define(llvm::orc::absoluteSymbols(std::move(halves))), "defining conversions of halves");
  // A path of our own to the C library's mathematics: the process's other objects must not stand in for it.
  library.addGenerator(take(DynamicLibrarySearchGenerator::Load("libm.so.6", '\0',
                                                                [](const llvm::orc::SymbolStringPtr& name) {
                                                                  return is_library_function(*name);
                                                                }),
                            "opening libm"));
  if (has_vector_math()) {
    library.addGenerator(take(DynamicLibrarySearchGenerator::Load(kVectorMathLibrary, '\0',
                                                                  [](const llvm::orc::SymbolStringPtr& name) {
                                                                    return (*name).starts_with("_ZGV");
                                                                  }),
                              "opening the vector mathematics"));
  }
}

LinkedKernel::LinkedKernel(std::span<const std::byte> object) {
  session_ =
      std::make_unique<Session>(take(llvm::orc::SelfExecutorProcessControl::Create(), "starting the linker"));
  llvm::orc::ExecutionSession& execution = session_->execution;
  std::string reported;
  execution.setErrorReporter(
      [&reported](llvm::Error error) { reported += llvm::toString(std::move(error)); });
  llvm::orc::JITDylib& library = execution.createBareJITDylib("kernel");
  session_->add_libraries(library);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(object.data()), object.size());
  check(session_->linking.add(library, llvm::MemoryBuffer::getMemBufferCopy(bytes, "kernel")),
        "reading the object");
  const auto find = [&](const char* name) {
    llvm::Expected<llvm::orc::ExecutorSymbolDef> found = execution.lookup({&library}, execution.intern(name));
    if (!found) {
      fail_malformed("linking the kernel: " + llvm::toString(found.takeError()) + reported);
    }
    return found->getAddress();
  };
  info_.function = find(kHostKernelSymbol).toPtr<HostKernel>();
  info_.workgroup_memory_bytes = *find(kWorkgroupMemorySymbol).toPtr<const std::uint64_t*>();
  execution.setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
}

LinkedKernel::~LinkedKernel() = default;

}  // namespace backplane::translator
