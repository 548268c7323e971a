// SPDX-License-Identifier: Apache-2.0
// The memory of a new segment, whatever it is made of: sized, placed, and every page of it promised by the kernel
// before anything is stored there.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "store/mapping.h"
#include "store/memory_kind.h"
#include "store/numa.h"

namespace kvpool::store {

/// Gives an empty file `bytes` (whole pages), and maps it for writing. `path` is for the sentence of a failure.
Result<Mapping> makeMemory(int file, const Memory& memory, uint64_t bytes, const NumaPlacement& numa,
                           const std::string& path);

/// Every page of `bytes` from `offset` on now, so that a full file system fails here with a sentence and not later with
/// a SIGBUS.
Status allocateAll(int file, uint64_t bytes, const std::string& path, uint64_t offset = 0);

/// Rounded up to what a file there can have: whole pages on hugetlbfs.
uint64_t possibleBytes(uint64_t bytes, const Memory& memory);

/// For people: in MiB where that is exact.
std::string sizeText(uint64_t bytes);

}  // namespace kvpool::store
