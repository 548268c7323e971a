// SPDX-License-Identifier: Apache-2.0
#include "store/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace kvpool::store {

Status lockFile(int file, const std::string& path) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return systemError("cannot lock " + path, errno);
  return {KV_SEGMENT_IN_USE, path + " is used by another process; stop that node, or give this one another place"};
}

}  // namespace kvpool::store
