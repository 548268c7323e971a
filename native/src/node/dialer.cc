// SPDX-License-Identifier: Apache-2.0
#include "node/dialer.h"

#include <cerrno>

#include "net/socket.h"

namespace kvpool::node {

Dialer::Dialer(net::EventLoop& loop, std::vector<net::HostPort> masters, uint64_t timeoutMs, Connected connected,
               Failed failed)
    : loop_(loop),
      resolver_(loop),
      masters_(std::move(masters)),
      attempts_(masters_.size()),
      timeoutMs_(timeoutMs),
      connected_(std::move(connected)),
      failed_(std::move(failed)) {}

Dialer::~Dialer() {
  for (Attempt& attempt : attempts_) {
    if (attempt.socket.valid()) loop_.remove(attempt.socket.get());
  }
}

void Dialer::dial(size_t master, uint64_t nowMs) {
  Attempt& attempt = attempts_.at(master);
  attempt.active = true;
  attempt.untilMs = nowMs + timeoutMs_;
  const uint64_t number = ++attempt.number;
  resolver_.resolve(masters_[master], [this, master, number](const Result<std::vector<net::SocketAddress>>& found) {
    resolved(master, number, found);
  });
}

void Dialer::resolved(size_t master, uint64_t number, const Result<std::vector<net::SocketAddress>>& found) {
  Attempt& attempt = attempts_[master];
  if (!attempt.active || attempt.number != number) return;
  if (!found.ok()) return fail(master, false, found.status().text());
  attempt.addresses = found.value();
  attempt.next = 0;
  attempt.refused = !attempt.addresses.empty();
  tryNext(master);
}

void Dialer::tryNext(size_t master) {
  Attempt& attempt = attempts_[master];
  while (attempt.next < attempt.addresses.size()) {
    int error = 0;
    Result<Fd> started = net::startConnect(attempt.addresses[attempt.next++], &error);
    if (!started.ok()) {
      attempt.refused = attempt.refused && error == ECONNREFUSED;
      attempt.lastError = started.status().text();
      continue;
    }
    attempt.socket = std::move(started.value());
    loop_.add(attempt.socket.get(), EPOLLOUT, [this, master](uint32_t) { writable(master); });
    return;
  }
  fail(master, attempt.refused, attempt.lastError);
}

void Dialer::writable(size_t master) {
  Attempt& attempt = attempts_[master];
  const std::string peer =
      net::toString(masters_[master]) + " (" + net::toString(attempt.addresses[attempt.next - 1]) + ")";
  const int error = net::connectOutcome(attempt.socket.get());
  loop_.remove(attempt.socket.get());
  if (error != 0) {
    attempt.refused = attempt.refused && error == ECONNREFUSED;
    attempt.lastError = systemError("cannot connect to " + peer, error).text();
    attempt.socket.reset();
    return tryNext(master);
  }
  attempt.active = false;
  connected_(master, std::move(attempt.socket), peer);
}

void Dialer::tick(uint64_t nowMs) {
  for (size_t master = 0; master < attempts_.size(); ++master) {
    const Attempt& attempt = attempts_[master];
    if (!attempt.active || nowMs < attempt.untilMs) continue;
    fail(master, false,
         "no connection to " + net::toString(masters_[master]) + " within " + std::to_string(timeoutMs_) + " ms");
  }
}

void Dialer::fail(size_t master, bool refused, const std::string& why) {
  Attempt& attempt = attempts_[master];
  if (attempt.socket.valid()) {
    loop_.remove(attempt.socket.get());
    attempt.socket.reset();
  }
  attempt.active = false;
  failed_(master, refused, why);
}

}  // namespace kvpool::node
