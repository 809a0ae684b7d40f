#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include <backplane/contract/translator.h>

namespace backplane::translator {

/// A host object in this process's memory, ready to run. Made and destroyed by any thread; the kernel itself
/// may be run by several at once.
class LinkedKernel {
 public:
  /// Copies what it needs of `object`. Throws `Failure`.
  explicit LinkedKernel(std::span<const std::byte> object);
  LinkedKernel(const LinkedKernel&) = delete;
  LinkedKernel& operator=(const LinkedKernel&) = delete;
  ~LinkedKernel();

  const HostKernelInfo& info() const { return info_; }

 private:
  struct Session;

  std::unique_ptr<Session> session_;
  HostKernelInfo info_{};
};

}  // namespace backplane::translator
