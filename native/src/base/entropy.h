// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvpool {

/// A random number from the kernel, never 0, which means "none" on the wire. For shells only: cores are given theirs.
uint64_t randomNumber();

}  // namespace kvpool
