#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <backplane/contract/kernel.h>

namespace backplane {

/// What copies of a `Kernel` share: its definition in each form it has, the preferred one first, and the
/// number it is known by. Immutable once interned; any thread.
class KernelRecord {
 public:
  KernelRecord(std::vector<KernelDefinition> definitions, std::vector<std::uint32_t> unspecialized)
      : definitions_(std::move(definitions)), unspecialized_(std::move(unspecialized)) {}

  /// The interface all forms share.
  [[nodiscard]] const KernelDefinition& interface() const noexcept { return definitions_.front(); }

  [[nodiscard]] std::span<const KernelDefinition> definitions() const noexcept { return definitions_; }

  /// The definition in the form that comes first in `forms`; null where there is none.
  [[nodiscard]] const KernelDefinition* select(std::span<const KernelForm> forms) const noexcept;

  /// The SPIR-V module that specialisation starts from; empty for kernels without SPIR-V.
  [[nodiscard]] std::span<const std::uint32_t> unspecialized() const noexcept { return unspecialized_; }

  /// Dense from 0 in this process, never reused.
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

  /// The one record of this content: `record`, or the one that was interned before and is still in use. Any
  /// thread.
  static std::shared_ptr<const KernelRecord> intern(KernelRecord record);

 private:
  std::vector<KernelDefinition> definitions_;
  std::vector<std::uint32_t> unspecialized_;
  std::uint32_t index_ = 0;
};

/// The hash that names a definition: of its form, code, entry point and mode, not of its label.
KernelId kernel_id(const KernelDefinition& definition);

}  // namespace backplane
