// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "net/address.h"
#include "net/dial.h"
#include "net/event_loop.h"
#include "net/resolver.h"

namespace kvpool::node {

/// Connects to peers, which go by numbers of the caller, each within a time.
class Dialer {
 public:
  using Connected = std::function<void(uint64_t peer, Fd socket, const std::string& name)>;
  using Failed = std::function<void(uint64_t peer, const net::Dial::Outcome& outcome)>;

  Dialer(net::EventLoop& loop, uint64_t timeoutMs, Connected connected, Failed failed);

  /// Exactly one of the two callbacks follows, later. Not again for the same peer before it did.
  void dial(uint64_t peer, const HostPort& address, uint64_t nowMs);
  void tick(uint64_t nowMs);

 private:
  struct Attempt {
    HostPort address;
    uint64_t untilMs = 0;
    std::optional<net::Dial> dial;
  };
  void dialled(uint64_t peer, net::Dial::Outcome outcome);

  net::EventLoop& loop_;
  net::Resolver resolver_;
  std::unordered_map<uint64_t, Attempt> attempts_;
  uint64_t timeoutMs_;
  Connected connected_;
  Failed failed_;
};

}  // namespace kvpool::node
