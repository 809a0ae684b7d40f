#include "client/launch_check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "client/launch_task.h"

namespace backplane {
namespace {

/// Puts together "Kernel "reduce" cannot run: ... (cuda:0, NVIDIA H200)."
class Refusal {
 public:
  Refusal(const KernelDefinition& kernel, const DeviceProperties& properties, const std::string& device)
      : kernel_(kernel), properties_(properties), device_(device) {}

  [[nodiscard]] Error operator()(ErrorCode code, const std::string& why) const {
    return {code, "Kernel \"" + kernel_.label + "\" cannot run: " + why + " (" + device_ + ", " +
                      properties_.name + ")."};
  }

  /// Nothing, where `value` is within `limit`.
  [[nodiscard]] Result<void> unless_within(const std::string& what, std::uint64_t value,
                                           std::uint64_t limit) const {
    if (value <= limit) return {};
    return (*this)(ErrorCode::launch_too_many_resources,
                   what + std::to_string(value) + " exceeds the device's limit of " + std::to_string(limit))
        .with_limit(value, limit);
  }

 private:
  const KernelDefinition& kernel_;
  const DeviceProperties& properties_;
  const std::string& device_;
};

constexpr std::array kDimensions{"x", "y", "z"};

std::string listed(CapabilitySet capabilities) {
  std::string text;
  for (const std::string_view name : capabilities.names()) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

Result<void> check_buffer(const Refusal& refusal, const KernelBinding& declared, const BufferBinding& bound,
                          std::size_t index, const DeviceLimits& limits) {
  const std::string name =
      "buffer " + std::to_string(index) +
      (bound.allocation->label().empty() ? "" : " (\"" + bound.allocation->label() + "\")");
  if (bound.size < declared.minimum_bytes) {
    return refusal(ErrorCode::validation, name + " has " + std::to_string(bound.size) +
                                              " bytes and the kernel needs at least " +
                                              std::to_string(declared.minimum_bytes));
  }
  if (bound.offset % limits.buffer_alignment != 0) {
    return refusal(ErrorCode::validation, name + " begins at byte " + std::to_string(bound.offset) +
                                              ", which is no multiple of the device's alignment of " +
                                              std::to_string(limits.buffer_alignment));
  }
  return refusal.unless_within("the size in bytes of " + name + ", ", bound.size, limits.binding_bytes);
}

}  // namespace

Result<void> check_kernel(const KernelDefinition& kernel, const DeviceProperties& properties,
                          const std::string& device) {
  const Refusal refusal(kernel, properties, device);
  const DeviceLimits& limits = properties.limits;
  const CapabilitySet missing = kernel.requires_capabilities.without(properties.capabilities);
  if (!missing.empty()) {
    return refusal(ErrorCode::compilation_unsupported, "the device does not support " + listed(missing));
  }
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < kDimensions.size(); ++i) {
    BACKPLANE_CHECK(refusal.unless_within(std::string("a workgroup whose ") + kDimensions[i] + " size is ",
                                          kernel.workgroup_size[i], limits.workgroup_size[i]));
    invocations *= kernel.workgroup_size[i];  // three 32-bit limits were just passed in turn
  }
  BACKPLANE_CHECK(refusal.unless_within("the number of invocations of a workgroup, ", invocations,
                                        limits.workgroup_invocations));
  BACKPLANE_CHECK(refusal.unless_within("the shared memory of a workgroup in bytes, ",
                                        kernel.workgroup_memory_bytes, limits.workgroup_memory_bytes));
  BACKPLANE_CHECK(refusal.unless_within("the number of buffers, ", kernel.bindings.size(),
                                        std::min(limits.bindings, kMaximumBindings)));
  return refusal.unless_within("the size of the scalar block in bytes, ", kernel.scalar_bytes,
                               limits.scalar_bytes);
}

Result<void> check_launch(const KernelDefinition& kernel, const WorkgroupCount& count,
                          std::span<const BufferBinding> buffers, std::span<const std::byte> scalars,
                          const DeviceProperties& properties, const std::string& device) {
  const Refusal refusal(kernel, properties, device);
  if (buffers.size() != kernel.bindings.size()) {
    return refusal(ErrorCode::validation, "it has " + std::to_string(kernel.bindings.size()) +
                                              " buffers and was given " + std::to_string(buffers.size()));
  }
  // A structure passed whole may end in padding that the kernel's block does not have.
  constexpr std::size_t kWidestScalar = 16;
  if (scalars.size() < kernel.scalar_bytes || scalars.size() - kernel.scalar_bytes >= kWidestScalar) {
    return refusal(ErrorCode::validation, "its scalar block has " + std::to_string(kernel.scalar_bytes) +
                                              " bytes and it was given " + std::to_string(scalars.size()));
  }
  if (count.is_indirect()) {
    if (!properties.capabilities.has(Capability::indirect)) {
      return refusal(ErrorCode::unsupported_operation,
                     "the device cannot read the workgroup count from a buffer");
    }
    if (count.indirect.size < 12) {
      return refusal(ErrorCode::validation, "the workgroup count needs 12 bytes and its buffer has " +
                                                std::to_string(count.indirect.size));
    }
  }
  const std::array counts{count.x, count.y, count.z};
  for (std::size_t i = 0; i < kDimensions.size(); ++i) {
    BACKPLANE_CHECK(refusal.unless_within(std::string("the ") + kDimensions[i] + " number of workgroups, ",
                                          counts[i], properties.limits.workgroup_count[i]));
  }
  if (std::ranges::find(counts, 0U) != counts.end()) return {};  // no buffer is looked at
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    BACKPLANE_CHECK(check_buffer(refusal, kernel.bindings[i], buffers[i], i, properties.limits));
  }
  return {};
}

}  // namespace backplane
