// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"

namespace kvpool::store {

/// Keeps a mapping out of swap: its pages are locked as they come, so that this itself takes no time. KV_IO names the
/// limit of locked memory and how to raise it.
Status lockMemory(std::span<uint8_t> mapping, const std::string& path);

/// The sentence for a kernel that refused with `error` to lock so much, for a process whose limit is `limitBytes`.
Status lockRefused(uint64_t bytes, uint64_t limitBytes, int error, const std::string& path);

}  // namespace kvpool::store
