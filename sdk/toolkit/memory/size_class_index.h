#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace backplane::toolkit {

/// The class of a size, in granules: an octave, and one of its 64 equal parts.
struct SizeClass {
  std::size_t octave;
  std::size_t part;

  friend constexpr bool operator==(const SizeClass&, const SizeClass&) = default;
};

inline constexpr unsigned kPartBits = 6;
inline constexpr std::size_t kParts = std::size_t{1} << kPartBits;  // so sizes of a class differ by 1.6 %
inline constexpr std::size_t kOctaves = 32;

/// One past the largest size that has a class, in granules.
inline constexpr std::uint64_t kGranulesEnd = std::uint64_t{1} << (kOctaves + kPartBits - 1);

[[nodiscard]] constexpr SizeClass class_of(std::uint64_t granules) noexcept {
  if (granules < kParts) return {0, granules};
  const auto log = static_cast<unsigned>(std::bit_width(granules)) - 1;
  return {log - kPartBits + 1, (granules >> (log - kPartBits)) - kParts};
}

/// Finds, adds and removes nodes by size in constant time, whatever their number: two-level segregated fit.
/// `Node` has `granules`, `next_free` and `previous_free`. One thread, the server's.
template <class Node>
class SizeClassIndex {
 public:
  void insert(Node& node) noexcept {
    const SizeClass own = class_of(node.granules);
    Node*& head = heads_[own.octave][own.part];
    node.previous_free = nullptr;
    node.next_free = head;
    if (head != nullptr) head->previous_free = &node;
    head = &node;
    octaves_ |= std::uint64_t{1} << own.octave;
    parts_[own.octave] |= std::uint64_t{1} << own.part;
  }

  void remove(Node& node) noexcept {
    if (node.next_free != nullptr) node.next_free->previous_free = node.previous_free;
    if (node.previous_free != nullptr) {
      node.previous_free->next_free = node.next_free;
      return;
    }
    const SizeClass own = class_of(node.granules);
    heads_[own.octave][own.part] = node.next_free;
    if (node.next_free != nullptr) return;
    parts_[own.octave] &= ~(std::uint64_t{1} << own.part);
    if (parts_[own.octave] == 0) octaves_ &= ~(std::uint64_t{1} << own.octave);
  }

  /// Changes the size of a node that is in the index. Costs nothing where its class stays the same.
  void resize(Node& node, std::uint64_t granules) noexcept {
    if (class_of(node.granules) == class_of(granules)) {
      node.granules = granules;
      return;
    }
    remove(node);
    node.granules = granules;
    insert(node);
  }

  /// A node of at least `granules`, of the smallest class that has one; null if there is none. Of the nodes
  /// whose class is that of the request itself only the first `looks` are considered.
  [[nodiscard]] Node* find(std::uint64_t granules, unsigned looks = kLooks) const noexcept {
    const SizeClass own = class_of(granules);
    Node* best = nullptr;
    for (Node* node = heads_[own.octave][own.part]; node != nullptr && looks > 0; node = node->next_free) {
      if (node->granules == granules) return node;
      if (node->granules > granules && (best == nullptr || node->granules < best->granules)) best = node;
      --looks;
    }
    if (best != nullptr) return best;
    std::size_t octave = own.octave;
    std::uint64_t parts = parts_[octave] & (~std::uint64_t{1} << own.part);
    if (parts == 0) {
      const std::uint64_t octaves = octaves_ & (~std::uint64_t{1} << own.octave);
      if (octaves == 0) return nullptr;
      octave = static_cast<std::size_t>(std::countr_zero(octaves));
      parts = parts_[octave];
    }
    return heads_[octave][static_cast<std::size_t>(std::countr_zero(parts))];
  }

  /// A node of exactly `granules`; null if there is none. Looks at one class, but at all of it.
  [[nodiscard]] Node* find_exactly(std::uint64_t granules) const noexcept {
    const SizeClass own = class_of(granules);
    Node* node = heads_[own.octave][own.part];
    while (node != nullptr && node->granules != granules) node = node->next_free;
    return node;
  }

  /// Calls `visit` for every node; it may remove the node it is given.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& octave : heads_) {
      for (Node* node : octave) {
        while (node != nullptr) {
          Node* const next = node->next_free;
          visit(*node);
          node = next;
        }
      }
    }
  }

  static constexpr unsigned kLooks = 8;
  static constexpr unsigned kAllLooks = ~0U;

 private:
  std::uint64_t octaves_ = 0;
  std::array<std::uint64_t, kOctaves> parts_{};
  std::array<std::array<Node*, kParts>, kOctaves> heads_{};
};

}  // namespace backplane::toolkit
