// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "base/status.h"

namespace kvpool::engine {

/// Listens on a free port of [min, max]. `seed` decides where the search begins, so that processes which start together
/// do not all try the same ones. KV_IO names the range when every port of it is taken.
Result<Fd> listenInRange(const std::string& host, uint16_t min, uint16_t max, uint64_t seed);

}  // namespace kvpool::engine
