// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvpool::secure {

/// What becomes of a connection once both certificates are checked.
enum class Payloads : uint8_t {
  Encrypted,     // TLS as long as it lives
  Authenticated  // TLS ends behind the handshake, if the peer wants that too: the socket carries bare frames and
                 // payloads
};

}  // namespace kvpool::secure
