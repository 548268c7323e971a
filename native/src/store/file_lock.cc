// SPDX-License-Identifier: Apache-2.0
#include "store/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace kvpool::store {

namespace {

Status inUse(const std::string& path) {
  return {KV_SEGMENT_IN_USE, path + " is used by another process; stop that node, or give this one another place"};
}

}  // namespace

Status lockFile(int file, const std::string& path) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return systemError("cannot lock " + path, errno);
  return inUse(path);
}

Status lockRange(int file, uint64_t offset, uint64_t bytes, const std::string& path) {
  // Nodes that have all of the file lock it otherwise, so both kinds of lock are needed.
  if (::flock(file, LOCK_SH | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? inUse(path) : systemError("cannot lock " + path, errno);
  }
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(offset);
  range.l_len = static_cast<off_t>(bytes);
  if (::fcntl(file, F_OFD_SETLK, &range) == 0) return {};
  return errno == EAGAIN || errno == EACCES ? inUse(path) : systemError("cannot lock a part of " + path, errno);
}

}  // namespace kvpool::store
