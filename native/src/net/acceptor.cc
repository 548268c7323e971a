// SPDX-License-Identifier: Apache-2.0
#include "net/acceptor.h"

#include <utility>

#include "base/log.h"
#include "net/socket.h"

namespace kvpool::net {
namespace {

/// Connections taken in one turn.
constexpr int kAcceptsPerTurn = 64;

}  // namespace

Acceptor::Acceptor(EventLoop& loop, Fd listener, Accepted accepted)
    : loop_(loop), listener_(std::move(listener)), accepted_(std::move(accepted)) {
  loop_.add(listener_.get(), EPOLLIN, [this](uint32_t) { accept(); });
}

void Acceptor::accept() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    SocketAddress peer;
    Result<Fd> socket = acceptOne(listener_.get(), &peer);
    if (!socket.ok()) {
      if (!std::exchange(failed_, true)) log(LogLevel::Error, socket.status().text());
      return pause();
    }
    if (!socket.value()
             .valid()) {  // there are descriptors again: without one accepting fails also when no client waits
      failed_ = false;
      return;
    }
    accepted_(std::move(socket.value()), peer);
  }
}

void Acceptor::pause() {
  paused_ = true;
  loop_.modify(listener_.get(), 0);
}

}  // namespace kvpool::net
