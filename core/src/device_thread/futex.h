#pragma once

#include <atomic>
#include <cstdint>

namespace backplane::detail {

/// Sleeps while `word` holds `expected`. May return early: check again. The word must outlive the sleep.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// Wakes every thread that sleeps on `word`. Does not read it.
void futex_wake(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace backplane::detail
