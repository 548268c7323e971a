// SPDX-License-Identifier: Apache-2.0
#include "net/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace kvpool::net {

SocketFile::SocketFile(std::string path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return;
  path_ = std::move(path);
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

void SocketFile::remove() {
  const std::string path = std::exchange(path_, {});
  if (path.empty()) return;
  struct stat info {};
  const bool ours = ::lstat(path.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  if (ours) ::unlink(path.c_str());
}

}  // namespace kvpool::net
