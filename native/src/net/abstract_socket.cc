// SPDX-License-Identifier: Apache-2.0
#include "net/abstract_socket.h"

#include <sys/socket.h>
#include <unistd.h>

namespace kvpool::net {

bool isOfThisUser(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

}  // namespace kvpool::net
