// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/listen_port.h"

#include "net/socket.h"

namespace kvpool::engine {

Result<Fd> listenInRange(const std::string& host, uint16_t min, uint16_t max, uint64_t seed) {
  // What is wrong with the host is said once, not once for each port.
  if (Result<Fd> any = net::listenTcp(host, 0); !any.ok()) return any.status();
  const uint64_t count = uint64_t{max} - min + 1;
  std::string last;
  for (uint64_t i = 0; i < count; ++i) {
    Result<Fd> listener = net::listenTcp(host, static_cast<uint16_t>(min + (seed + i) % count));
    if (listener.ok()) return listener;
    last = listener.status().text();
  }
  return {KV_IO, "none of the " + std::to_string(count) + " ports from " + std::to_string(min) + " to " +
                     std::to_string(max) + " is free (last tried: " + last +
                     "); give a larger range, or end processes that listen there"};
}

}  // namespace kvpool::engine
