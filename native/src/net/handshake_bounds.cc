// SPDX-License-Identifier: Apache-2.0
#include "net/handshake_bounds.h"

#include <netinet/in.h>

#include <cstring>

namespace kvpool::net {
namespace {

constexpr uint64_t kSecondMs = 1000;

}  // namespace

HandshakeBounds::Source HandshakeBounds::sourceOf(const SocketAddress& address) {
  Source source{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.storage, sizeof in);
    source[3] = 4;
    std::memcpy(&source[4], &in.sin_addr, sizeof in.sin_addr);
  } else if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.storage, sizeof in);
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      source[3] = 4;
      std::memcpy(&source[4], &in.sin6_addr.s6_addr[12], 4);
    } else {
      std::memcpy(source.data(), &in.sin6_addr, source.size());
    }
  }
  return source;
}

std::string HandshakeBounds::begin(const Source& source, uint64_t nowMs) {
  if (open_ >= kOpenMax) return std::to_string(kOpenMax) + " other handshakes are open";
  Count& count = counts_[source];
  if (nowMs - count.sinceMs >= kSecondMs) {
    count.sinceMs = nowMs;
    count.begun = 0;
  }
  if (count.open >= ofAddress_.openMax) {
    return std::to_string(ofAddress_.openMax) + " other handshakes from its address are open";
  }
  if (count.begun >= ofAddress_.perSecondMax) {
    return "more than " + std::to_string(ofAddress_.perSecondMax) + " handshakes a second from its address";
  }
  ++count.open;
  ++count.begun;
  ++open_;
  return {};
}

void HandshakeBounds::end(const Source& source) {
  --counts_.at(source).open;
  --open_;
}

void HandshakeBounds::tick(uint64_t nowMs) {
  std::erase_if(counts_,
                [nowMs](const auto& one) { return one.second.open == 0 && nowMs - one.second.sinceMs >= kSecondMs; });
}

}  // namespace kvpool::net
