// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/address.h"
#include "net/event_loop.h"
#include "net/resolver.h"

namespace kvpool::node {

/// Connects to peers: resolves the name anew each time, because pods come back with other addresses, and tries each
/// address in turn. Peers go by numbers of the caller.
class Dialer {
 public:
  /// How often an address is dialled again at once, when the connection was reset while it was made. A process that
  /// dies still has connections accepted for it and then resets them; a moment later it refuses, which says that it is
  /// gone.
  static constexpr int kResetsMax = 3;

  using Connected = std::function<void(uint64_t peer, Fd socket, const std::string& name)>;
  /// `refused`: every address answered that nobody listens.
  using Failed = std::function<void(uint64_t peer, bool refused, const std::string& why)>;

  Dialer(net::EventLoop& loop, uint64_t timeoutMs, Connected connected, Failed failed);
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  /// Exactly one of the two callbacks follows, later. Not again for the same peer before it did.
  void dial(uint64_t peer, const net::HostPort& address, uint64_t nowMs);
  void tick(uint64_t nowMs);

 private:
  struct Attempt {
    uint64_t number = 0;  // answers of an earlier attempt's DNS are not this one's
    net::HostPort address;
    uint64_t untilMs = 0;
    std::vector<net::SocketAddress> addresses;
    size_t next = 0;
    int resets = 0;  // of the present address
    Fd socket;
    bool refused = true;  // so far, by every address that was tried
    std::string lastError;
  };
  void resolved(uint64_t peer, uint64_t number, const Result<std::vector<net::SocketAddress>>& found);
  void tryNext(uint64_t peer);
  /// Whether the address that answered with this error is worth another dial at once.
  static bool dialsAgain(Attempt& attempt, int error);
  void writable(uint64_t peer);
  void fail(uint64_t peer, bool refused, const std::string& why);

  net::EventLoop& loop_;
  net::Resolver resolver_;
  std::unordered_map<uint64_t, Attempt> attempts_;
  uint64_t lastNumber_ = 0;
  uint64_t timeoutMs_;
  Connected connected_;
  Failed failed_;
};

}  // namespace kvpool::node
