// SPDX-License-Identifier: Apache-2.0
#include "node/shell/dialer.h"

#include <utility>
#include <vector>

namespace kvpool::node {

Dialer::Dialer(net::EventLoop& loop, uint64_t timeoutMs, Connected connected, Failed failed)
    : loop_(loop),
      resolver_(loop),
      timeoutMs_(timeoutMs),
      connected_(std::move(connected)),
      failed_(std::move(failed)) {}

void Dialer::dial(uint64_t peer, const HostPort& address, uint64_t nowMs) {
  Attempt& attempt = attempts_[peer];
  attempt.address = address;
  attempt.untilMs = nowMs + timeoutMs_;
  attempt.dial.emplace(loop_, resolver_, address,
                       [this, peer](net::Dial::Outcome outcome) { dialled(peer, std::move(outcome)); });
}

void Dialer::dialled(uint64_t peer, net::Dial::Outcome outcome) {
  // Out of the table before anybody hears of it.
  attempts_.erase(peer);
  if (outcome.socket.valid()) return connected_(peer, std::move(outcome.socket), outcome.peer);
  failed_(peer, outcome);
}

void Dialer::tick(uint64_t nowMs) {
  std::vector<uint64_t> late;
  for (const auto& [peer, attempt] : attempts_) {
    if (nowMs >= attempt.untilMs) late.push_back(peer);
  }
  for (const uint64_t peer : late) {
    const std::string why =
        "no connection to " + toString(attempts_.at(peer).address) + " within " + std::to_string(timeoutMs_) + " ms";
    dialled(peer, {{}, {}, why, false, false});
  }
}

}  // namespace kvpool::node
