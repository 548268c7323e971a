// SPDX-License-Identifier: Apache-2.0
#include "net/dial.h"

#include <cerrno>
#include <utility>

#include "net/socket.h"

namespace kvpool::net {

Dial::Dial(EventLoop& loop, Resolver& resolver, const HostPort& name, Done done)
    : loop_(loop), name_(toString(name)), done_(std::move(done)), self_(std::make_shared<Dial*>(this)) {
  resolver.resolve(name, [self = std::weak_ptr(self_)](const Result<std::vector<SocketAddress>>& found) {
    if (const std::shared_ptr<Dial*> dial = self.lock()) (*dial)->resolved(found);
  });
}

Dial::~Dial() {
  if (socket_.valid()) loop_.remove(socket_.get());
}

void Dial::resolved(const Result<std::vector<SocketAddress>>& found) {
  if (!found.ok()) return finish({{}, name_, found.status().text(), false, true});
  addresses_ = found.value();
  refused_ = !addresses_.empty();
  lastError_ = name_ + " has no address";
  tryNext();
}

void Dial::tryNext() {
  while (next_ < addresses_.size()) {
    int error = 0;
    Result<Fd> started = startConnect(addresses_[next_++], &error);
    if (!started.ok()) {
      refused_ = refused_ && error == ECONNREFUSED;
      lastError_ = started.status().text();
      continue;
    }
    socket_ = std::move(started.value());
    loop_.add(socket_.get(), EPOLLOUT, [this](uint32_t) { writable(); });
    return;
  }
  finish({{}, name_, lastError_, refused_, false});
}

void Dial::writable() {
  const std::string peer = name_ + " (" + toString(addresses_[next_ - 1]) + ")";
  const int error = connectOutcome(socket_.get());
  loop_.remove(socket_.get());
  if (error == 0) return finish({std::move(socket_), peer, {}, false, false});
  lastError_ = systemError("cannot connect to " + peer, error).text();
  socket_.reset();
  if (isWorthAnother(error)) {
    --next_;
  } else {
    refused_ = refused_ && error == ECONNREFUSED;
  }
  tryNext();
}

bool Dial::isWorthAnother(int error) {
  if (error == ECONNRESET && resets_ < kResetsMax) {
    ++resets_;
    return true;
  }
  resets_ = 0;
  return false;
}

void Dial::finish(Outcome outcome) {
  const Done done = std::move(done_);
  done(std::move(outcome));
}

}  // namespace kvpool::net
