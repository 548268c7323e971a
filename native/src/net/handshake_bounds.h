// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

  /// An address as it is counted: all of IPv4, of IPv6 the network of 64 bits that a host can choose its addresses in.
  using Source = std::array<uint8_t, 8>;
  static Source sourceOf(const SocketAddress& address);

  /// Counts one more, which end() follows; else the bound that is reached, for people.
  std::string begin(const Source& source, uint64_t nowMs);
  void end(const Source& source);
  /// Now and then: forgets addresses of which nothing is left.
  void tick(uint64_t nowMs);

 private:
  struct Count {
    uint32_t open = 0;
    uint32_t begun = 0;  // in the second that began at sinceMs
    uint64_t sinceMs = 0;
  };

  const HandshakesOfAddress ofAddress_ = {};
  size_t open_ = 0;
  std::map<Source, Count> counts_;  // those of a second, and of what is open
};

}  // namespace kvpool::net
