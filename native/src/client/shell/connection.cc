// SPDX-License-Identifier: Apache-2.0
#include "client/shell/connection.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "net/socket.h"

namespace kvpool::client {
namespace {

/// Steps of one readiness event, so that one fast peer does not starve the others.
constexpr int kStepsPerEvent = 16;

std::string errorText(int errorNumber) {
  return std::strerror(errorNumber);
}

/// What people can do about a socket of this machine that cannot be dialled; empty when it may pass.
std::string wayOut(int errorNumber) {
  if (errorNumber == ENOENT) return " (a container must mount the socket's directory at the same path)";
  if (errorNumber == EACCES) return " (this process must be in the group of the socket)";
  if (errorNumber == EAGAIN) return " (its queue of connections is full)";
  return {};
}

}  // namespace

// ---- connecting ----

void Connection::dialTcp(net::Resolver& resolver, const std::string& address) {
  const auto parsed = parseHostPort(address);
  if (!parsed.ok()) return end(parsed.status().text());
  dial_.emplace(loop_, resolver, parsed.value(), [this](net::Dial::Outcome outcome) {
    const std::shared_ptr<Connection> keep = shared_from_this();
    dialled(std::move(outcome));
  });
}

void Connection::dialled(net::Dial::Outcome outcome) {
  dial_.reset();
  if (outcome.unknown && !closed_) {
    close();
    return listener_.nameUnknown(id_, outcome.why);
  }
  if (!outcome.socket.valid()) return end(outcome.why);
  attend(std::move(outcome.socket));
  listener_.connectionOpened(id_);
}

void Connection::dialUnix(const std::string& path) {
  isUnix_ = true;
  int errorNumber = 0;
  auto socket = net::connectUnix(path, &errorNumber);
  if (!socket.ok()) return end(socket.status().text() + wayOut(errorNumber));
  attend(std::move(socket.value()));
  listener_.connectionOpened(id_);
}

void Connection::attend(Fd socket) {
  socket_ = std::move(socket);
  loop_.add(socket_.get(), EPOLLIN, [this](uint32_t happenedEvents) {
    const std::shared_ptr<Connection> keep = shared_from_this();
    happened(happenedEvents);
  });
}

// ---- sending ----

void Connection::flush() {
  if (closed_ || !socket_.valid()) return;
  const uint64_t before = out_.sentBytes();
  const net::OutQueue::Outcome outcome =
      out_.flush(socket_.get(), [this](TransferId transfer) { listener_.payloadSent(id_, transfer); });
  const int errorNumber = errno;
  if (closed_) return;
  if (outcome == net::OutQueue::Outcome::Failed) return end("sending failed: " + errorText(errorNumber));
  watch(outcome == net::OutQueue::Outcome::Blocked);
  if (out_.sentBytes() != before) listener_.bytesMoved(id_);
}

void Connection::sendWithDescriptor(const wire::Bytes& frame, int descriptor) {
  const ssize_t sent = net::sendWithDescriptors(socket_.get(), frame, std::span(&descriptor, 1));
  if (sent < 0) return end("sending a descriptor failed: " + errorText(errno));
  // The descriptor travels with the first byte; the rest of a frame that did not fit goes the usual way.
  if (static_cast<size_t>(sent) < frame.size()) out_.addFrame({frame.begin() + sent, frame.end()});
}

void Connection::watch(bool writable) {
  if (writable == watchesWritable_) return;
  watchesWritable_ = writable;
  loop_.modify(socket_.get(), writable ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

// ---- receiving ----

void Connection::happened(uint32_t events) {
  if (closed_) return;
  if ((events & EPOLLOUT) != 0) flush();
  if (!closed_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void Connection::receive() {
  for (int step = 0; step < kStepsPerEvent && !closed_; ++step) {
    const bool direct = incoming_ && incoming_->payload.isWorthReceiving();
    const bool more = direct ? receivePayload() : receiveSome();
    if (!more) return;
  }
}

/// Receives into the decoder. False when the socket had no more.
bool Connection::receiveSome() {
  const std::span<uint8_t> room = decoder_.writable();
  net::ReceivedBytes received;
  if (isUnix_) {
    received = net::receiveWithDescriptors(socket_.get(), room, &descriptors_);
  } else {
    received.count = ::recv(socket_.get(), room.data(), room.size(), 0);
    received.errorNumber = errno;
  }
  if (received.count == 0) return end("the peer closed the connection"), false;
  if (received.count < 0) {
    const int error = received.errorNumber;
    if (error != EAGAIN && error != EWOULDBLOCK && error != EINTR) end("receiving failed: " + errorText(error));
    return false;
  }
  listener_.bytesMoved(id_);
  decoder_.received(static_cast<size_t>(received.count));
  parse();
  return static_cast<size_t>(received.count) == room.size();
}

/// Receives the rest of a payload straight into the caller's memory. False when the socket had no more.
bool Connection::receivePayload() {
  const ssize_t received = incoming_->payload.receive(socket_.get());
  if (received == 0) return end("the peer closed the connection in the middle of a payload"), false;
  if (received < 0) {
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) end("receiving failed: " + errorText(errno));
    return false;
  }
  listener_.bytesMoved(id_);
  return true;
}

void Connection::parse() {
  try {
    while (!closed_) {
      if (incoming_) {
        const uint64_t missing = incoming_->payload.missingBytes();
        const std::span<const uint8_t> raw = decoder_.takeRaw(missing);
        incoming_->payload.take(raw);
        if (raw.size() < missing) return;
        finishPayload();
        continue;
      }
      const std::optional<wire::Body> body = decoder_.next();
      if (!body) return;
      listener_.frameArrived(id_, *body);
    }
  } catch (const std::runtime_error& malformed) {
    end(std::string("sent malformed bytes: ") + malformed.what());
  }
}

void Connection::expectPayload(TransferId transfer, const std::optional<Pieces>& destination, uint64_t length) {
  incoming_ = Incoming{transfer, net::IncomingPayload(destination, length)};
}

void Connection::finishPayload() {
  const Incoming done = *incoming_;
  incoming_.reset();
  listener_.payloadReceived(id_, done.transfer, done.payload.computedCrc(), done.payload.sentCrc());
}

// ---- ending ----

void Connection::end(const std::string& reason) {
  if (closed_) return;
  close();
  listener_.connectionEnded(id_, reason);
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  dial_.reset();
  if (socket_.valid()) loop_.remove(socket_.get());
  socket_.reset();
  out_ = net::OutQueue();
  incoming_.reset();
  descriptors_.clear();
}

}  // namespace kvpool::client
