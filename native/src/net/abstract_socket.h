// SPDX-License-Identifier: Apache-2.0
// Unix sockets of a name instead of a file: "@NAME", see listenAbstract() and connectUnix(). The network namespace
// has the name, so that containers of a pod find each other by it without a directory in common. It has no mode
// either: both ends look who the other one is.
#pragma once

#include <string_view>

namespace kvpool::net {

inline bool isAbstract(std::string_view path) {
  return path.starts_with('@');
}

/// Whether the process at the other end of a connected unix socket is of this user, or root's.
bool isOfThisUser(int fd);

}  // namespace kvpool::net
