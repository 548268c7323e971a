// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/status.h"

namespace kvpool::store {

/// What the bytes of a region are.
enum class MemoryKind : uint8_t {
  Tmpfs,      // a file on tmpfs; outlives the process
  HugePages,  // a file on hugetlbfs; outlives the process, and its pages are never swapped
  Disk,       // a file on any other file system: works, as slowly as the disk
  Anonymous,  // a descriptor without a name; goes with the process
};

/// Whether it pays to make pages present and writable ahead of their use. On a disk that would dirty every page, so
/// each start would write the whole segment back.
constexpr bool worthPrefaulting(MemoryKind kind) {
  return kind != MemoryKind::Disk;
}
const char* nameOf(MemoryKind kind);

/// Memory of one kind in pages of one size.
struct Memory {
  MemoryKind kind = MemoryKind::Anonymous;
  uint64_t pageBytes = 4096;
};

/// The memory of files on a file system, from what statfs says of it.
Memory memoryOf(uint64_t fileSystemType, uint64_t blockBytes, uint64_t systemPageBytes);
/// The memory of an open file.
Result<Memory> memoryOf(int file);

}  // namespace kvpool::store
