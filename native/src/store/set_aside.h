// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace kvpool::store {

/// Why a file is set aside; its new name says it, so that a later life of the node can count them.
enum class AsideReason {
  Damaged,  // cut off, with wrong checksums, or nothing of ours
  Foreign,  // of another pool or node
};

/// Renames a file that this node cannot use, and does not delete, to PATH.set-aside-REASON-TIMESTAMP; with a number
/// behind it where that name is taken. The new name, or KV_IO.
Result<std::string> setAside(const std::string& path, AsideReason reason, const std::string& timestamp);

/// Files that lie set aside, by this life of the node or an earlier one.
struct AsideFiles {
  uint64_t damaged = 0;
  uint64_t foreign = 0;
  uint64_t bytes = 0;  // what all of them take, on a disk or of memory
};

/// Adds those of the file of this name in a directory. What is no directory, or cannot be read, has none.
void countAside(const std::string& directory, const std::string& name, AsideFiles& files);

}  // namespace kvpool::store
