#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace backplane::toolkit {

inline constexpr unsigned kPartBits = 6;
inline constexpr std::size_t kParts = std::size_t{1} << kPartBits;
inline constexpr std::size_t kOctaves = 32;

/// One past the largest size that has a class, in granules.
inline constexpr std::uint64_t kGranulesEnd = std::uint64_t{1} << (kOctaves + kPartBits - 1);

/// The class of a size, in granules, counted through all octaves. An octave has 64 equal parts, so sizes of a
/// class differ by at most 1.6 %; below 64 granules each size is a class.
[[nodiscard]] constexpr std::size_t class_of(std::uint64_t granules) noexcept {
  const auto shift = static_cast<unsigned>(std::bit_width(granules | kParts)) - kPartBits - 1;
  return (std::size_t{shift} << kPartBits) + static_cast<std::size_t>(granules >> shift);
}

/// Finds, adds and removes nodes by size in constant time, whatever their number: two-level segregated fit.
/// `Node` has `granules`, `next_free`, `previous_free` and `size_class`. One thread, the server's.
template <class Node>
class SizeClassIndex {
 public:
  void insert(Node& node) noexcept { insert(node, class_of(node.granules)); }

  void remove(Node& node) noexcept {
    if (node.next_free != nullptr) node.next_free->previous_free = node.previous_free;
    if (node.previous_free != nullptr) {
      node.previous_free->next_free = node.next_free;
      return;
    }
    const std::size_t own = node.size_class;
    heads_[own] = node.next_free;
    if (node.next_free != nullptr) return;
    const std::size_t octave = own >> kPartBits;
    parts_[octave] &= ~(std::uint64_t{1} << (own % kParts));
    if (parts_[octave] == 0) octaves_ &= ~(std::uint64_t{1} << octave);
  }

  /// Changes the size of a node that is in the index. Costs little where its class stays the same.
  void resize(Node& node, std::uint64_t granules) noexcept {
    const std::size_t after = class_of(granules);
    node.granules = granules;
    if (node.size_class == after) return;
    remove(node);
    insert(node, after);
  }

  /// A node of at least `granules`, of the smallest class that has one; null if there is none. Of the nodes
  /// whose class is that of the request itself only the first two are considered.
  [[nodiscard]] Node* find(std::uint64_t granules) const noexcept {
    const std::size_t own = class_of(granules);
    if (Node* const first = heads_[own]; first != nullptr) {
      if (first->granules >= granules) return first;
      Node* const second = first->next_free;
      if (second != nullptr && second->granules >= granules) return second;
    }
    std::size_t octave = own >> kPartBits;
    std::uint64_t parts = parts_[octave] & (~std::uint64_t{1} << (own % kParts));
    if (parts == 0) {
      const std::uint64_t octaves = octaves_ & (~std::uint64_t{1} << octave);
      if (octaves == 0) return nullptr;
      octave = static_cast<std::size_t>(std::countr_zero(octaves));
      parts = parts_[octave];
    }
    return heads_[(octave << kPartBits) + static_cast<std::size_t>(std::countr_zero(parts))];
  }

  /// The same, but looks at all nodes of the request's own class: for when the alternative is dear.
  [[nodiscard]] Node* find_thoroughly(std::uint64_t granules) const noexcept {
    Node* node = heads_[class_of(granules)];
    while (node != nullptr && node->granules < granules) node = node->next_free;
    return node != nullptr ? node : find(granules);
  }

  /// A node of exactly `granules`; null if there is none. Looks at one class, but at all of it.
  [[nodiscard]] Node* find_exactly(std::uint64_t granules) const noexcept {
    Node* node = heads_[class_of(granules)];
    while (node != nullptr && node->granules != granules) node = node->next_free;
    return node;
  }

  /// Calls `visit` for every node; it may remove the node it is given.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (Node* node : heads_) {
      while (node != nullptr) {
        Node* const next = node->next_free;
        visit(*node);
        node = next;
      }
    }
  }

 private:
  void insert(Node& node, std::size_t own) noexcept {
    Node*& head = heads_[own];
    node.size_class = static_cast<std::uint32_t>(own);
    node.previous_free = nullptr;
    node.next_free = head;
    if (head != nullptr) {
      head->previous_free = &node;
    } else {
      octaves_ |= std::uint64_t{1} << (own >> kPartBits);
      parts_[own >> kPartBits] |= std::uint64_t{1} << (own % kParts);
    }
    head = &node;
  }

  std::uint64_t octaves_ = 0;
  std::array<std::uint64_t, kOctaves> parts_{};
  std::array<Node*, kOctaves * kParts> heads_{};
};

}  // namespace backplane::toolkit
