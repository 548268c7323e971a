// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "store/allocator.h"

namespace kvpool::store {

/// A record that says that bytes are its own.
struct Claim {
  Range extent;
  uint32_t number = 0;
};

/// Numbers of records, sorted out.
struct Claims {
  std::vector<uint32_t> alone;  // in the order of their offsets
  std::vector<uint32_t> overlapping;
};

/// Sets records apart that claim bytes which another one claims as well: one of them is wrong and nothing says which.
Claims sortOut(std::vector<Claim> claims);

}  // namespace kvpool::store
