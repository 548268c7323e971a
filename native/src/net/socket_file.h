// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

namespace kvpool::net {

/// The file of a listening unix socket. Goes with this object, unless another process has its own at the path by then.
class SocketFile {
 public:
  SocketFile() = default;
  /// What is bound at the path now.
  explicit SocketFile(std::string path);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&& other) noexcept;
  ~SocketFile() { remove(); }

  /// Empty when there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// To be called while the socket is open: then no other file can have its number.
  void remove();
  /// From now on somebody else's to remove.
  void keep() { path_.clear(); }

 private:
  std::string path_;  // empty: none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace kvpool::net
