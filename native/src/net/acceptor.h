// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "base/fd.h"
#include "net/address.h"
#include "net/event_loop.h"

namespace kvpool::net {

/// Takes the connections that come to a listening socket.
class Acceptor {
 public:
  using Accepted = std::function<void(Fd socket, const SocketAddress& peer)>;

  Acceptor(EventLoop& loop, Fd listener, Accepted accepted);
  ~Acceptor() { loop_.remove(listener_.get()); }
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Now and then. Out of descriptors a listener stays readable, so it is left alone until then instead of spinning.
  void resume() {
    if (std::exchange(paused_, false)) loop_.modify(listener_.get(), EPOLLIN);
  }

 private:
  void accept();
  void pause();

  EventLoop& loop_;
  Fd listener_;
  Accepted accepted_;
  bool paused_ = false;
  bool failed_ = false;  // said already; until there are descriptors again
};

}  // namespace kvpool::net
