// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kvpool::ascend {

/// Sizes to ask for one after the other while the machine has no memory for them: `bytes`, then a tenth of it less each
/// time, down to a half, in multiples of `unit`. None is below `least`.
std::vector<uint64_t> sizeLadder(uint64_t bytes, uint64_t least, uint64_t unit);

}  // namespace kvpool::ascend
