#pragma once

#include <span>
#include <string>
#include <string_view>

namespace backplane {

/// Whether `text` as a whole matches `pattern`, in which '*' stands for any characters and '?' for one.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text) noexcept;

/// The first of the patterns that matches, or null.
[[nodiscard]] const std::string* first_match(std::span<const std::string> patterns, std::string_view text);

}  // namespace backplane
