#include "plugin/glob.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace backplane {

bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  // After a mismatch only the last '*' needs to take one character more, which keeps this linear in practice.
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

const std::string* first_match(std::span<const std::string> patterns, std::string_view text) {
  const auto found =
      std::ranges::find_if(patterns, [&](const std::string& pattern) { return glob_matches(pattern, text); });
  return found == patterns.end() ? nullptr : &*found;
}

}  // namespace backplane
