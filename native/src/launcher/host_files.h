// SPDX-License-Identifier: Apache-2.0
// Copies of files that a host may have, for a container that must start where it has not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvpool::launcher {

/// All copies together are at most this.
inline constexpr uint64_t kHostFilesBytesMax = uint64_t{64} << 20;

/// Arguments: FROM TO, and so on. Copies each file or directory with its mode. What is missing or cannot be read is an
/// empty file, and a line on stderr says so. Throws when a copy cannot be written, or when all are larger than
/// kHostFilesBytesMax.
void copyHostFiles(const std::vector<std::string>& arguments);

}  // namespace kvpool::launcher
