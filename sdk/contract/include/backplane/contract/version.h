#pragma once

#include <cstdint>

namespace backplane {

/// Version of the plugin interface. While the major is 0 the contract is not frozen and a host loads only
/// plugins of exactly its own revision; from major 1 a host also loads older revisions of its major.
struct InterfaceVersion {
  std::uint16_t major;
  std::uint16_t revision;

  friend constexpr bool operator==(const InterfaceVersion&, const InterfaceVersion&) = default;
};

inline constexpr InterfaceVersion kInterfaceVersion{0, 1};

}  // namespace backplane
