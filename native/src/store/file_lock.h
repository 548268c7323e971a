// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"

namespace kvpool::store {

/// Takes an open file for this process alone, until it is closed. KV_SEGMENT_IN_USE when another has it, KV_IO.
Status lockFile(int file, const std::string& path);

}  // namespace kvpool::store
