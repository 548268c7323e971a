// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace kvpool::store {

/// Takes an open file for this process alone, until it is closed. KV_SEGMENT_IN_USE when another has it, KV_IO.
Status lockFile(int file, const std::string& path);

/// Takes a part of an open file, until it is closed; others may have other parts. KV_SEGMENT_IN_USE when another has
/// any of it, or all of the file, KV_IO.
Status lockRange(int file, uint64_t offset, uint64_t bytes, const std::string& path);

}  // namespace kvpool::store
