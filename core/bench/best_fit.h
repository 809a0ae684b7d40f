#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace backplane::bench {

/// S: the allocator that everyone writes first: free blocks ordered by size, the best fit taken, neighbours
/// joined by address. It grows by pages, of the size that the request needs or an eighth of what there is.
class OrderedBestFit {
 public:
  /// Gives `size` bytes, which are more than 0; returns their address.
  std::uint64_t reserve(std::uint64_t size);
  void free(std::uint64_t address);

  [[nodiscard]] std::uint64_t peak_reserved() const noexcept { return reserved_; }  // it gives nothing back

 private:
  struct Block {
    std::uint64_t size;
    bool free;
  };
  using Blocks = std::map<std::uint64_t, Block>;  // by address

  void grow(std::uint64_t size);

  Blocks blocks_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> free_;  // size, address
  std::uint64_t reserved_ = 0;
  std::uint64_t next_page_ = 0;
};

}  // namespace backplane::bench
