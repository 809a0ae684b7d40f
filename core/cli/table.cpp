#include "table.h"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane::cli {

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

void Table::print(std::ostream& out) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  constexpr std::size_t kGap = 2;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out << row[i];
      if (i + 1 < row.size()) out << std::string(widths[i] - display_width(row[i]) + kGap, ' ');
    }
    out << '\n';
  }
}

std::string printable(std::string_view text) {
  constexpr unsigned char kDelete = 0x7f;
  std::string result(text);
  std::ranges::replace_if(
      result, [](unsigned char character) { return character < ' ' || character == kDelete; }, '?');
  return result;
}

std::size_t display_width(std::string_view text) noexcept {
  constexpr unsigned char kContinuationMask = 0xc0;
  constexpr unsigned char kContinuation = 0x80;
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](unsigned char byte) { return (byte & kContinuationMask) != kContinuation; }));
}

}  // namespace backplane::cli
