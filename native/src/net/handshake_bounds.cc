// SPDX-License-Identifier: Apache-2.0
#include "net/handshake_bounds.h"

#include <algorithm>

namespace kvpool::net {
namespace {

constexpr uint64_t kSecondMs = 1000;
constexpr size_t kNetworkBytes = 8;

Host networkOf(Host source) {
  std::fill(source.begin() + kNetworkBytes, source.end(), 0);
  return source;
}

}  // namespace

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

std::string HandshakeBounds::begin(const Host& source, uint64_t nowMs) {
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

void HandshakeBounds::end(const Host& source) {
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
