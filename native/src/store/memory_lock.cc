// SPDX-License-Identifier: Apache-2.0
#include "store/memory_lock.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>

#include "store/segment_memory.h"

namespace kvpool::store {

Status lockRefused(uint64_t bytes, uint64_t limitBytes, int error, const std::string& path) {
  const std::string what = "cannot lock the " + sizeText(bytes) + " of the segment " + path + " into memory";
  const bool limited = error == ENOMEM || error == EPERM || error == EAGAIN;
  if (!limited || limitBytes == RLIM_INFINITY) return systemError(what, error);
  return {KV_IO, what + ": this process may lock " + sizeText(limitBytes) +
                     "; raise that limit (ulimit -l unlimited, LimitMEMLOCK=infinity for the container runtime, or the "
                     "capability IPC_LOCK), or leave memory locking off"};
}

Status lockMemory(std::span<uint8_t> mapping, const std::string& path) {
  if (::mlock2(mapping.data(), mapping.size(), MLOCK_ONFAULT) == 0) return {};
  const int error = errno;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) limit.rlim_cur = RLIM_INFINITY;
  return lockRefused(mapping.size(), limit.rlim_cur, error, path);
}

}  // namespace kvpool::store
