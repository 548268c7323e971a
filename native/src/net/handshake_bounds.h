// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "net/address.h"

namespace kvpool::net {

/// What one address may have and begin.
struct HandshakesOfAddress {
  uint32_t openMax = 32;
  uint32_t perSecondMax = 100;
};

/// How many handshakes of TLS strangers may have open, all together and from one address: each costs a millisecond of
/// the processor that serves clients.
class HandshakeBounds {
 public:
  static constexpr size_t kOpenMax = 512;

  HandshakeBounds() = default;
  explicit HandshakeBounds(HandshakesOfAddress ofAddress) : ofAddress_(ofAddress) {}

  /// Of IPv6 the network of 64 bits is counted too, in which one host may choose its addresses: it may have so many
  /// times as much, since all pods of a cluster may be in one.
  static constexpr uint32_t kAddressesOfNetwork = 8;

  /// Counts one more, which end() follows; else the bound that is reached, for people.
  std::string begin(const Host& source, uint64_t nowMs);
  void end(const Host& source);
  /// Now and then: forgets addresses of which nothing is left.
  void tick(uint64_t nowMs);

 private:
  struct Count {
    uint32_t open = 0;
    uint32_t begun = 0;  // in the second that began at sinceMs
    uint64_t sinceMs = 0;
  };

  /// The bound that is reached, empty when none is.
  static std::string reached(Count& count, const HandshakesOfAddress& bounds, uint64_t nowMs, const char* whose);

  const HandshakesOfAddress ofAddress_ = {};
  size_t open_ = 0;
  // Those of a second, and of what is open: of addresses, and of networks, which have zeros behind them.
  std::map<Host, Count> counts_;
  std::map<Host, Count> networks_;
};

}  // namespace kvpool::net
