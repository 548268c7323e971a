// SPDX-License-Identifier: Apache-2.0
// What makes a grant the leader's: a storage node believes no object id, tenant, key or length that only a client says.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.h"
#include "base/retention.h"

namespace kvpool {

/// What a leader shares with one storage node under one authority. Kept in memory only.
using GrantSecret = std::array<uint8_t, 32>;

/// What a leader vouches for with a grant, and a node is asked to believe.
struct GrantClaims {
  Authority authority;
  ObjectId object;
  uint64_t payloadLength = 0;
  Retention retention;
  std::string_view key;  ///< qualified, so it says the tenant too
};

/// A leader's word for them, for one node: the first half of an HMAC-SHA256.
struct GrantMac {
  uint64_t first = 0;
  uint64_t second = 0;
  /// Takes the same time wherever they differ, so that none can be found piece by piece.
  friend bool operator==(const GrantMac& a, const GrantMac& b) {
    return ((a.first ^ b.first) | (a.second ^ b.second)) == 0;
  }
};

}  // namespace kvpool
