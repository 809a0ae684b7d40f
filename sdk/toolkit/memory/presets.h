#pragma once

#include <cstdint>
#include <vector>

#include <backplane/contract/memory.h>
#include <backplane/contract/result.h>

#include "pool.h"

namespace backplane::toolkit {

/// The pools of a configuration, in routing order, on a device whose blocks have at most `largest_block`
/// bytes. Errors: `validation` where the layout makes no sense.
Result<std::vector<PoolPlan>> plan_pools(const MemoryConfiguration& configuration,
                                         std::uint64_t largest_block);

/// What every stream has beside them.
[[nodiscard]] PoolPlan persistent_pool();
[[nodiscard]] PoolPlan auxiliary_pool();

}  // namespace backplane::toolkit
