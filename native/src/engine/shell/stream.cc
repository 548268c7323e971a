// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/stream.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "engine/core/limits.h"
#include "net/socket.h"

namespace kvpool::engine {
namespace {

/// Steps of one readiness event, so that one fast peer does not starve the others.
constexpr int kStepsPerEvent = 8;

}  // namespace

// ---- connecting ----

void Stream::dial(net::Resolver& resolver, const std::string& address, int64_t silenceMs) {
  silenceMs_ = silenceMs;
  const auto parsed = parseHostPort(address);
  if (!parsed.ok()) return end(parsed.status().text());
  dial_.emplace(loop_, resolver, parsed.value(), [this](net::Dial::Outcome outcome) {
    const std::shared_ptr<Stream> keep = shared_from_this();
    dialled(std::move(outcome));
  });
}

void Stream::dialled(net::Dial::Outcome outcome) {
  dial_.reset();
  if (!outcome.socket.valid()) return end(outcome.why);
  adopt(std::move(outcome.socket));
  net::probeSilence(socket_.get(), silenceMs_);
  listener_.streamOpened(id_);
}

void Stream::adopt(Fd socket) {
  socket_ = std::move(socket);
  watched_ = EPOLLIN;
  loop_.add(socket_.get(), watched_, [this](uint32_t events) {
    const std::shared_ptr<Stream> keep = shared_from_this();
    happened(events);
  });
}

// ---- sending ----

void Stream::addFrame(wire::Bytes frame) {
  queuedBytes_ += frame.size();
  out_.addFrame(std::move(frame));
}

void Stream::addPayload(PayloadId payload, const Pieces& pieces, uint64_t length) {
  queuedBytes_ += length + wire::kPayloadTrailerBytes;
  ++payloadsUnsent_;
  out_.addPayload(payload, pieces, length);
}

bool Stream::outputFull() const {
  return payloadsUnsent_ >= kRepliesUnsent || queuedBytes_ - out_.sentBytes() >= kUnsentBytesMax ||
         out_.frameBytes() >= kUnsentBytesMax;  // small frames take more than their bytes
}

void Stream::flush() {
  if (closed_ || !socket_.valid()) return;
  const bool wasFull = outputFull();
  const uint64_t before = out_.sentBytes();
  const net::OutQueue::Outcome outcome = out_.flush(socket_.get(), [this](PayloadId payload) {
    --payloadsUnsent_;
    listener_.payloadSent(id_, payload);
  });
  const int errorNumber = errno;
  if (closed_) return;
  if (outcome == net::OutQueue::Outcome::Failed) return failed("sending", errorNumber);
  blocked_ = outcome == net::OutQueue::Outcome::Blocked;
  if (lingering_ && !blocked_) ::shutdown(socket_.get(), SHUT_WR);
  if (out_.sentBytes() != before) listener_.bytesSent(id_, out_.frameBytes());
  if (wasFull && !outputFull()) parse();  // what waited in the decoder
  if (!closed_) watch();
}

void Stream::linger() {
  lingering_ = true;
  flush();
}

void Stream::watch() {
  uint32_t events = outputFull() && !lingering_ ? 0U : uint32_t{EPOLLIN};
  if (blocked_) events |= EPOLLOUT;
  if (events == watched_) return;
  watched_ = events;
  loop_.modify(socket_.get(), events);
}

/// Bytes on their way to a host that is there are acknowledged, also by one whose process takes none. Where none are on
/// their way the kernel asks (net::probeSilence()).
void Stream::watchHost(Time now) {
  if (closed_ || !socket_.valid() || silenceMs_ == 0) return;
  const net::Unacknowledged sent = net::unacknowledged(socket_.get());
  if (!sent.any) return unacknowledgedSince_.reset();
  if (!unacknowledgedSince_) unacknowledgedSince_ = now;
  // An acknowledgement from before these bytes were sent says nothing.
  if (std::min(sent.heardMs, now - *unacknowledgedSince_) >= silenceMs_) hostIsSilent();
}

// ---- receiving ----

void Stream::happened(uint32_t events) {
  if (closed_) return;
  if ((events & EPOLLOUT) != 0) flush();
  if (closed_) return;
  const bool over = (events & (EPOLLHUP | EPOLLERR)) != 0;
  if ((events & EPOLLIN) != 0 || over) receive();
  // Reading is off, or did not notice: a dead peer must not wake the loop for ever.
  if (over && !closed_) end("the connection was reset");
}

void Stream::receive() {
  for (int step = 0; step < kStepsPerEvent && !closed_ && (lingering_ || !outputFull()); ++step) {
    const bool direct = incoming_ && incoming_->isWorthReceiving();
    const bool more = direct ? receivePayload() : receiveSome();
    if (!more) break;
  }
  if (!closed_) watch();
}

/// Whether there is nothing to go on with; ends the stream when there never will be.
bool Stream::lost(ssize_t received) {
  const int errorNumber = errno;
  if (received > 0) return false;
  if (received == 0) {
    end(incoming_ ? "the peer closed the connection in the middle of a payload" : "the peer closed the connection");
  } else if (errorNumber != EAGAIN && errorNumber != EWOULDBLOCK && errorNumber != EINTR) {
    failed("receiving", errorNumber);
  }
  return true;
}

/// Receives into the decoder. False when the socket had no more.
bool Stream::receiveSome() {
  static thread_local std::array<uint8_t, net::IncomingPayload::kReceiveBytes> nowhere;
  // The decoder must not be asked for room once it has refused what it holds.
  const std::span<uint8_t> room = lingering_ ? std::span<uint8_t>(nowhere) : decoder_.writable();
  const ssize_t received = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (lost(received)) return false;
  const auto count = static_cast<size_t>(received);
  if (lingering_) return true;
  listener_.bytesReceived(id_);
  decoder_.received(count);
  parse();
  return count == room.size();
}

/// Receives the rest of a payload straight into the memory it is for. False when the socket had no more.
bool Stream::receivePayload() {
  const ssize_t received = incoming_->receive(socket_.get());
  if (lost(received)) return false;
  listener_.bytesReceived(id_);
  return true;
}

void Stream::parse() {
  try {
    while (!closed_ && !lingering_) {
      if (incoming_) {
        const uint64_t missing = incoming_->missingBytes();
        const std::span<const uint8_t> raw = decoder_.takeRaw(missing);
        incoming_->take(raw);
        if (raw.size() < missing) return;
        finishPayload();
        continue;
      }
      if (outputFull()) return;
      const std::optional<wire::Body> body = decoder_.next();
      if (!body) return;
      listener_.frameArrived(id_, *body);
    }
  } catch (const std::runtime_error& malformed) {
    listener_.streamMalformed(id_, malformed.what());
  }
}

void Stream::expectPayload(const std::optional<Pieces>& pieces, uint64_t length) {
  incoming_.emplace(pieces, length);
}

void Stream::dropPayload() {
  if (incoming_) incoming_->drop();
}

void Stream::finishPayload() {
  const net::IncomingPayload done = *incoming_;
  incoming_.reset();
  listener_.payloadReceived(id_, done.computedCrc(), done.sentCrc());
}

// ---- ending ----

void Stream::end(const std::string& reason) {
  if (closed_) return;
  close();
  listener_.streamEnded(id_, reason);
}

void Stream::failed(const std::string& what, int errorNumber) {
  if (errorNumber == ETIMEDOUT && silenceMs_ > 0) return hostIsSilent();
  end(what + " failed: " + std::strerror(errorNumber));
}

void Stream::hostIsSilent() {
  close();
  listener_.streamSilent(
      id_, "its host does not answer since " + std::to_string(silenceMs_) + " ms; is it running, and reachable?");
}

void Stream::close() {
  if (closed_) return;
  closed_ = true;
  dial_.reset();
  if (socket_.valid()) loop_.remove(socket_.get());
  socket_.reset();
  out_ = net::OutQueue();
  incoming_.reset();
}

}  // namespace kvpool::engine
