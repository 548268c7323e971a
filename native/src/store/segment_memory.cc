// SPDX-License-Identifier: Apache-2.0
#include "store/segment_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "base/checked.h"
#include "store/huge_pages.h"

namespace kvpool::store {
namespace {

constexpr const char* kHugePages = "/sys/kernel/mm/hugepages";

/// What is bound to one node cannot lie elsewhere: the kernel would kill processes rather than use another node.
Status checkNode(const Memory& memory, uint64_t bytes, uint32_t node, const std::string& path) {
  const std::string directory = numaNodeDirectory(node);
  if (memory.kind == MemoryKind::HugePages) {
    return checkHugePages(readHugePagePool(directory + "/hugepages", memory.pageBytes), bytes, path);
  }
  const std::ifstream file(directory + "/meminfo");
  std::ostringstream text;
  text << file.rdbuf();
  const uint64_t room = numaRoomBytes(text.str());
  if (bytes <= room) return {};
  return {KV_IO, "the segment " + path + " needs " + sizeText(bytes) + " on NUMA node " + std::to_string(node) +
                     ", which has " + sizeText(room >> 20 << 20) +
                     " left; choose a smaller segment size, or interleave"};
}

}  // namespace

std::string sizeText(uint64_t bytes) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  return bytes % kMiB == 0 ? std::to_string(bytes / kMiB) + " MiB" : std::to_string(bytes) + " bytes";
}

uint64_t possibleBytes(uint64_t bytes, const Memory& memory) {
  if (memory.kind != MemoryKind::HugePages) return bytes;
  return checkedAlignUp(bytes, memory.pageBytes).value_or(bytes);  // nobody has a file of a size that overflows
}

Status allocateAll(int file, uint64_t bytes, const std::string& path, uint64_t offset) {
  int error = EINTR;
  while (error == EINTR)
    error = ::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error == 0) return {};
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return {KV_IO, "no room for the segment file " + path + " of " + sizeText(bytes) + ": " +
                       systemError("allocating it", error).text() +
                       "; choose a smaller segment size, or give the file system or memory volume more room "
                       "(set-aside files next to it take room too)"};
  }
  return systemError("cannot allocate " + path, error);
}

Result<Mapping> makeMemory(int file, const Memory& memory, uint64_t bytes, const NumaPlacement& numa,
                           const std::string& path) {
  if (memory.kind == MemoryKind::HugePages) {
    const Status fits = checkHugePages(readHugePagePool(kHugePages, memory.pageBytes), bytes, path);
    if (!fits.ok()) return fits;
  }
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) return systemError("cannot size " + path, errno);
  Result<Mapping> mapping = Mapping::map(file, bytes, true);
  if (!mapping.ok()) return mapping;
  // Before the pages are there: the kernel moves none for us.
  if (Status bound = bindMemory(mapping.value().bytes(), numa); !bound.ok()) return bound;
  if (numa.policy == NumaPlacement::Policy::Node) {
    if (Status fits = checkNode(memory, bytes, numa.node, path); !fits.ok()) return fits;
  }
  if (Status allocated = allocateAll(file, bytes, path); !allocated.ok()) return allocated;
  return mapping;
}

}  // namespace kvpool::store
