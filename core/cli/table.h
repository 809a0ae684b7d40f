#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cli {

/// Columns of text, each as wide as its widest cell; the last is not padded. One thread.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { add(std::move(header)); }

  /// Adds a row; it has as many cells as the header.
  void add(std::vector<std::string> row);

  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// The text with control characters replaced: what a stranger's file says must not steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// Characters of a UTF-8 text, as far as columns of text need to know.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

}  // namespace backplane::cli
