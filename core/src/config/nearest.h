#pragma once

#include <span>
#include <string>
#include <string_view>

namespace backplane {

/// The candidate that `word` was most likely meant to be, or an empty string if none is close.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// " Did you mean "X"?", or an empty string.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace backplane
