// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/event_loop.h"
#include "net/resolver.h"

namespace kvpool::node {

/// Connects to the masters: resolves the name anew each time, because pods come back with other addresses, and tries
/// each address in turn.
class Dialer {
 public:
  using Connected = std::function<void(size_t master, Fd socket, const std::string& peer)>;
  /// `refused`: every address answered that nobody listens.
  using Failed = std::function<void(size_t master, bool refused, const std::string& why)>;

  Dialer(net::EventLoop& loop, std::vector<net::HostPort> masters, uint64_t timeoutMs, Connected connected,
         Failed failed);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  /// Exactly one of the two callbacks follows, later.
  void dial(size_t master, uint64_t nowMs);
  void tick(uint64_t nowMs);

 private:
  struct Attempt {
    uint64_t number = 0;  // answers of an earlier attempt's DNS are not this one's
    bool active = false;
    uint64_t untilMs = 0;
    std::vector<net::SocketAddress> addresses;
    size_t next = 0;
    Fd socket;
    bool refused = true;  // so far, by every address that was tried
    std::string lastError;
  };
  void resolved(size_t master, uint64_t attempt, const Result<std::vector<net::SocketAddress>>& found);
  void tryNext(size_t master);
  void writable(size_t master);
  void fail(size_t master, bool refused, const std::string& why);

  net::EventLoop& loop_;
  net::Resolver resolver_;
  std::vector<net::HostPort> masters_;
  std::vector<Attempt> attempts_;
  uint64_t timeoutMs_;
  Connected connected_;
  Failed failed_;
};

}  // namespace kvpool::node
