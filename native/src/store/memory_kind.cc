// SPDX-License-Identifier: Apache-2.0
#include "store/memory_kind.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace kvpool::store {

const char* nameOf(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Tmpfs:
      return "tmpfs";
    case MemoryKind::HugePages:
      return "huge pages";
    case MemoryKind::Disk:
      return "a disk";
    case MemoryKind::Anonymous:
      return "anonymous memory";
  }
  return "unknown memory";
}

Memory memoryOf(uint64_t fileSystemType, uint64_t blockBytes, uint64_t systemPageBytes) {
  if (fileSystemType == HUGETLBFS_MAGIC) return {MemoryKind::HugePages, blockBytes};
  return {fileSystemType == TMPFS_MAGIC ? MemoryKind::Tmpfs : MemoryKind::Disk, systemPageBytes};
}

Result<Memory> memoryOf(int file) {
  struct statfs info {};
  if (::fstatfs(file, &info) != 0) return systemError("cannot look at the file system of the segment", errno);
  return memoryOf(static_cast<uint64_t>(info.f_type), static_cast<uint64_t>(info.f_bsize),
                  static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace kvpool::store
