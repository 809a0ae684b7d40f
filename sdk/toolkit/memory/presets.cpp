#include "presets.h"

#include <algorithm>
#include <array>
#include <string>

namespace backplane::toolkit {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kIdleCleanups = 4;

/// Small allocations keep to themselves: one of them left over must not hold a large page.
PoolPlan small_pool(std::uint64_t largest_block) {
  return {.name = "small",
          .kind = MemoryPoolKind::sliced,
          .page_size = std::min(2 * kMiB, largest_block),
          .largest_request = std::min(64 * kKiB, largest_block),
          .idle_cleanups = kIdleCleanups};
}

std::vector<PoolPlan> adaptive(std::uint64_t largest_block) {
  return {small_pool(largest_block),
          {.name = "adaptive", .kind = MemoryPoolKind::adaptive, .idle_cleanups = kIdleCleanups}};
}

std::vector<PoolPlan> sub_slices(std::uint64_t largest_block) {
  struct Size {
    std::uint64_t page;
    std::uint64_t request;
  };
  constexpr std::array kSizes{Size{2 * kMiB, 128 * kKiB}, Size{16 * kMiB, 2 * kMiB},
                              Size{128 * kMiB, 32 * kMiB}, Size{512 * kMiB, 256 * kMiB}};
  std::vector<PoolPlan> plans;
  for (const Size& size : kSizes) {
    if (size.page > largest_block) break;
    plans.push_back({.name = "slices of " + std::to_string(size.page / kMiB) + " MiB",
                     .kind = MemoryPoolKind::sliced,
                     .page_size = size.page,
                     .largest_request = size.request,
                     .idle_cleanups = kIdleCleanups});
  }
  plans.push_back(
      {.name = "direct", .kind = MemoryPoolKind::direct, .fit = Fit::whole, .idle_cleanups = kIdleCleanups});
  return plans;
}

std::vector<PoolPlan> exclusive_pages() {
  return {{.name = "exclusive",
           .kind = MemoryPoolKind::exclusive,
           .fit = Fit::whole,
           .idle_cleanups = kIdleCleanups}};
}

Error invalid(std::size_t index, const std::string& why) {
  return {ErrorCode::validation, "Memory pool " + std::to_string(index) + " of the layout " + why};
}

std::string compared(const char* name, std::uint64_t value, const char* limit_name, std::uint64_t limit) {
  return std::string("has ") + name + " " + std::to_string(value) + ", which exceeds " + limit_name + " of " +
         std::to_string(limit) + " bytes.";
}

Result<void> validate(const MemoryPoolOptions& options, std::size_t index, std::uint64_t largest_block) {
  if (options.kind > MemoryPoolKind::adaptive) {
    return invalid(index, "has kind " + std::to_string(static_cast<int>(options.kind)) +
                              ", which cannot be installed; choose one from exclusive to adaptive.");
  }
  const bool has_pages = options.kind == MemoryPoolKind::exclusive || options.kind == MemoryPoolKind::sliced;
  if (!has_pages && options.page_size != 0) {
    return invalid(index, "sets a page size, but the pages of its kind follow the requests; leave it 0.");
  }
  if (options.page_size > largest_block) {
    return invalid(index,
                   compared("page size", options.page_size, "the device's largest block", largest_block));
  }
  if (options.page_size != 0 && options.largest_request > options.page_size) {
    return invalid(index,
                   compared("largest request", options.largest_request, "its page size", options.page_size));
  }
  if (options.capacity != 0 && options.page_size > options.capacity) {
    return invalid(index, compared("page size", options.page_size, "its capacity", options.capacity));
  }
  return {};
}

PoolPlan custom_pool(const MemoryPoolOptions& options, std::size_t index, std::uint64_t largest_block) {
  constexpr std::array<const char*, 5> kNames{"exclusive", "sliced", "direct", "persistent", "adaptive"};
  constexpr std::array kFits{Fit::whole, Fit::split, Fit::whole, Fit::exact, Fit::split};
  const auto kind = static_cast<std::size_t>(options.kind);
  PoolPlan plan{.name = std::string(kNames[kind]) + ' ' + std::to_string(index),
                .kind = options.kind,
                .fit = kFits[kind],
                .page_size = options.page_size,
                .largest_request = options.largest_request,
                .capacity = options.capacity,
                .idle_cleanups = options.idle_cleanups,
                .shares_pages = options.kind != MemoryPoolKind::persistent};
  if (options.kind == MemoryPoolKind::sliced && plan.page_size == 0) {
    const std::uint64_t most =
        options.capacity == 0 ? largest_block : std::min(largest_block, options.capacity);
    plan.page_size = std::min(std::max(64 * kMiB, options.largest_request), most);
  }
  if (plan.largest_request == 0) plan.largest_request = plan.page_size;
  return plan;
}

}  // namespace

Result<std::vector<PoolPlan>> plan_pools(const MemoryConfiguration& configuration,
                                         std::uint64_t largest_block) {
  switch (configuration.preset) {
    case MemoryPreset::adaptive:
      return adaptive(largest_block);
    case MemoryPreset::sub_slices:
      return sub_slices(largest_block);
    case MemoryPreset::exclusive_pages:
      return exclusive_pages();
    case MemoryPreset::custom:
      break;
    default:
      return Error(
          ErrorCode::validation,
          "Memory preset " + std::to_string(static_cast<int>(configuration.preset)) + " is not known.");
  }
  if (configuration.pools.empty()) {
    return Error(ErrorCode::validation, "A custom memory layout lists no pool; add one.");
  }
  std::vector<PoolPlan> plans;
  for (std::size_t i = 0; i < configuration.pools.size(); ++i) {
    BACKPLANE_CHECK(validate(configuration.pools[i], i, largest_block));
    plans.push_back(custom_pool(configuration.pools[i], i, largest_block));
  }
  return plans;
}

PoolPlan persistent_pool() {
  return {.name = "persistent", .kind = MemoryPoolKind::persistent, .fit = Fit::exact, .shares_pages = false};
}

PoolPlan auxiliary_pool() {
  return {.name = "auxiliary", .kind = MemoryPoolKind::auxiliary, .idle_cleanups = kIdleCleanups};
}

}  // namespace backplane::toolkit
