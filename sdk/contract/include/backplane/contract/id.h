#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace backplane {

/// An integer that cannot be mistaken for another kind of integer. `Tag` is any type, used only as a name.
template <class Tag, class Value = std::uint64_t>
struct Id {
  Value value{};

  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

/// A logical stream: work of one stream runs in order. One per calling thread unless the application says
/// otherwise; a server folds them onto the device streams it has.
using StreamId = Id<struct StreamTag>;

/// A device as its plugin numbers them, from 0. Only meaningful together with the plugin.
using DeviceId = Id<struct DeviceTag, std::uint32_t>;

/// A recorded graph. Unique for the life of the server that recorded it, never reused; 0 is never given out.
using GraphId = Id<struct GraphTag>;

/// An open measurement, from `IServer::start_profile` to `end_profile` or `abandon_profile`.
using ProfilingToken = Id<struct ProfilingTag>;

/// A communicator of collective operations, as `IServer::comm_init` named it.
using CommunicatorId = Id<struct CommunicatorTag>;

/// What a kernel is: a hash of its code, specialisation and execution mode. Two kernels that share a label
/// but not their code have different ids.
struct KernelId {
  std::uint64_t high{};
  std::uint64_t low{};

  friend constexpr auto operator<=>(const KernelId&, const KernelId&) = default;
};

}  // namespace backplane

template <class Tag, class Value>
struct std::hash<backplane::Id<Tag, Value>> {
  std::size_t operator()(const backplane::Id<Tag, Value>& id) const noexcept {
    return std::hash<Value>{}(id.value);
  }
};

template <>
struct std::hash<backplane::KernelId> {
  std::size_t operator()(const backplane::KernelId& id) const noexcept { return id.low; }  // already a hash
};
