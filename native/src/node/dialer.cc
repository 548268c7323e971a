// SPDX-License-Identifier: Apache-2.0
#include "node/dialer.h"

#include <cerrno>
#include <utility>

#include "net/socket.h"

namespace kvpool::node {

Dialer::Dialer(net::EventLoop& loop, uint64_t timeoutMs, Connected connected, Failed failed)
    : loop_(loop),
      resolver_(loop),
      timeoutMs_(timeoutMs),
      connected_(std::move(connected)),
      failed_(std::move(failed)) {}

Dialer::~Dialer() {
  for (auto& [peer, attempt] : attempts_) {
    if (attempt.socket.valid()) loop_.remove(attempt.socket.get());
  }
}

void Dialer::dial(uint64_t peer, const net::HostPort& address, uint64_t nowMs) {
  Attempt& attempt = attempts_[peer];
  attempt.address = address;
  attempt.untilMs = nowMs + timeoutMs_;
  attempt.number = ++lastNumber_;
  resolver_.resolve(address, [this, peer, number = lastNumber_](const Result<std::vector<net::SocketAddress>>& found) {
    resolved(peer, number, found);
  });
}

void Dialer::resolved(uint64_t peer, uint64_t number, const Result<std::vector<net::SocketAddress>>& found) {
  const auto known = attempts_.find(peer);
  if (known == attempts_.end() || known->second.number != number) return;
  if (!found.ok()) return fail(peer, false, found.status().text());
  Attempt& attempt = known->second;
  attempt.addresses = found.value();
  attempt.next = 0;
  attempt.refused = !attempt.addresses.empty();
  tryNext(peer);
}

void Dialer::tryNext(uint64_t peer) {
  Attempt& attempt = attempts_.at(peer);
  while (attempt.next < attempt.addresses.size()) {
    int error = 0;
    Result<Fd> started = net::startConnect(attempt.addresses[attempt.next++], &error);
    if (!started.ok()) {
      attempt.refused = attempt.refused && error == ECONNREFUSED;
      attempt.lastError = started.status().text();
      continue;
    }
    attempt.socket = std::move(started.value());
    loop_.add(attempt.socket.get(), EPOLLOUT, [this, peer](uint32_t) { writable(peer); });
    return;
  }
  fail(peer, attempt.refused, attempt.lastError);
}

void Dialer::writable(uint64_t peer) {
  Attempt& attempt = attempts_.at(peer);
  const std::string name =
      net::toString(attempt.address) + " (" + net::toString(attempt.addresses[attempt.next - 1]) + ")";
  const int error = net::connectOutcome(attempt.socket.get());
  loop_.remove(attempt.socket.get());
  if (error != 0) {
    if (!dialsAgain(attempt, error)) attempt.refused = attempt.refused && error == ECONNREFUSED;
    attempt.lastError = systemError("cannot connect to " + name, error).text();
    attempt.socket.reset();
    return tryNext(peer);
  }
  Fd socket = std::move(attempt.socket);
  attempts_.erase(peer);
  connected_(peer, std::move(socket), name);
}

bool Dialer::dialsAgain(Attempt& attempt, int error) {
  if (error != ECONNRESET || attempt.resets == kResetsMax) {
    attempt.resets = 0;
    return false;
  }
  ++attempt.resets;
  --attempt.next;
  return true;
}

void Dialer::tick(uint64_t nowMs) {
  std::vector<uint64_t> late;
  for (const auto& [peer, attempt] : attempts_) {
    if (nowMs >= attempt.untilMs) late.push_back(peer);
  }
  for (const uint64_t peer : late) {
    fail(peer, false,
         "no connection to " + net::toString(attempts_.at(peer).address) + " within " + std::to_string(timeoutMs_) +
             " ms");
  }
}

void Dialer::fail(uint64_t peer, bool refused, const std::string& why) {
  const auto known = attempts_.find(peer);
  if (known->second.socket.valid()) loop_.remove(known->second.socket.get());
  // Out of the table before anybody hears of it, but alive: `why` may lie in it.
  const auto ended = attempts_.extract(known);
  failed_(peer, refused, why);
}

}  // namespace kvpool::node
