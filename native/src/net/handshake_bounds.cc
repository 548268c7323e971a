// SPDX-License-Identifier: Apache-2.0
#include "net/handshake_bounds.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace kvpool::net {
namespace {

constexpr uint64_t kSecondMs = 1000;
constexpr size_t kNetworkBytes = 8;
constexpr HandshakeBounds::Source kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kMappedBytes = 12;

bool isIpv4(const HandshakeBounds::Source& source) {
  return std::equal(source.begin(), source.begin() + kMappedBytes, kMapped.begin());
}

HandshakeBounds::Source networkOf(HandshakeBounds::Source source) {
  std::fill(source.begin() + kNetworkBytes, source.end(), 0);
  return source;
}

}  // namespace

HandshakeBounds::Source HandshakeBounds::sourceOf(const SocketAddress& address) {
  Source source{};
  if (address.storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address.storage, sizeof in);
    source = kMapped;
    std::memcpy(&source[kMappedBytes], &in.sin_addr, sizeof in.sin_addr);
  } else if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address.storage, sizeof in);
    std::memcpy(source.data(), &in.sin6_addr, source.size());
  }
  return source;
}

std::string HandshakeBounds::reached(Count& count, const HandshakesOfAddress& bounds, uint64_t nowMs,
                                     const char* whose) {
  if (nowMs - count.sinceMs >= kSecondMs) {
    count.sinceMs = nowMs;
    count.begun = 0;
  }
  if (count.open >= bounds.openMax) {
    return std::to_string(bounds.openMax) + " other handshakes from " + whose + " are open";
  }
  if (count.begun >= bounds.perSecondMax) {
    return "more than " + std::to_string(bounds.perSecondMax) + " handshakes a second from " + whose;
  }
  return {};
}

std::string HandshakeBounds::begin(const Source& source, uint64_t nowMs) {
  if (open_ >= kOpenMax) return std::to_string(kOpenMax) + " other handshakes are open";
  Count& count = counts_[source];
  if (auto why = reached(count, ofAddress_, nowMs, "its address"); !why.empty()) return why;
  if (!isIpv4(source)) {
    const HandshakesOfAddress ofNetwork = {ofAddress_.openMax * kAddressesOfNetwork,
                                           ofAddress_.perSecondMax * kAddressesOfNetwork};
    Count& network = networks_[networkOf(source)];
    if (auto why = reached(network, ofNetwork, nowMs, "its network of 64 bits"); !why.empty()) return why;
    ++network.open;
    ++network.begun;
  }
  ++count.open;
  ++count.begun;
  ++open_;
  return {};
}

void HandshakeBounds::end(const Source& source) {
  --counts_.at(source).open;
  if (!isIpv4(source)) --networks_.at(networkOf(source)).open;
  --open_;
}

void HandshakeBounds::tick(uint64_t nowMs) {
  const auto isOver = [nowMs](const auto& one) {
    return one.second.open == 0 && nowMs - one.second.sinceMs >= kSecondMs;
  };
  std::erase_if(counts_, isOver);
  std::erase_if(networks_, isOver);
}

}  // namespace kvpool::net
