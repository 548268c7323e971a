// SPDX-License-Identifier: Apache-2.0
#include "store/staging.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <string>

namespace kvpool::store {

Result<Mapping> mapStaging(const std::vector<Fd>& descriptors, uint64_t bytes, bool writable) {
  if (descriptors.empty()) return Status(KV_INVALID_ARGUMENT, "no descriptor came with the request to attach memory");
  const Fd& memfd = descriptors.front();
  constexpr int kSealsNeeded = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const int seals = ::fcntl(memfd.get(), F_GET_SEALS);
  if (seals < 0) return Status(KV_INVALID_ARGUMENT, "the staging descriptor is no memfd");
  if ((seals & kSealsNeeded) != kSealsNeeded) {
    return Status(KV_INVALID_ARGUMENT,
                  "the staging memfd must have the seals F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_SEAL");
  }
  struct statfs system {};
  if (::fstatfs(memfd.get(), &system) != 0) return systemError("cannot look at the staging memory", errno);
  if (system.f_type != TMPFS_MAGIC) {
    return Status(KV_INVALID_ARGUMENT,
                  "the staging memfd must consist of normal pages, not of huge ones (MFD_HUGETLB)");
  }
  struct stat info {};
  if (::fstat(memfd.get(), &info) != 0) return systemError("cannot look at the staging memory", errno);
  if (static_cast<uint64_t>(info.st_size) < bytes) {
    return Status(KV_INVALID_ARGUMENT, "the staging memfd has " + std::to_string(info.st_size) + " bytes, " +
                                           std::to_string(bytes) + " were announced");
  }
  return Mapping::map(memfd.get(), bytes, writable);
}

}  // namespace kvpool::store
