// SPDX-License-Identifier: Apache-2.0
#include "node/shell/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/crc32c.h"
#include "net/socket.h"

namespace kvpool::node {

Connection::Connection(ConnectionId id, Fd socket, bool local, std::string peer, const Limits& limits,
                       std::span<uint8_t> segment, uint64_t nowMs)
    : id_(id),
      socket_(std::move(socket)),
      local_(local),
      peer_(std::move(peer)),
      decoder_(limits.bodyBytesMax),
      segment_(segment),
      outputItemsMax_(limits.outputItemsMax),
      nowMs_(nowMs),
      inputProgressMs_(nowMs),
      outputProgressMs_(nowMs) {}

void Connection::receivePayload(uint64_t offset, uint64_t length) {
  input_ = Input::Payload;
  at_ = offset;
  remaining_ = length;
  crc_ = 0;
  trailerBytes_ = 0;
}

void Connection::discard(uint64_t length) {
  input_ = Input::Discard;
  remaining_ = length;
}

void Connection::copyStaging(uint64_t from, uint64_t to, uint64_t length, uint32_t crc) {
  input_ = Input::Staging;
  from_ = from;
  at_ = to;
  remaining_ = length;
  crc_ = 0;
  expectedCrc_ = crc;
}

Fd Connection::takeDescriptor() {
  if (descriptors_.empty()) return Fd();
  Fd first = std::move(descriptors_.front());
  descriptors_.erase(descriptors_.begin());
  return first;
}

bool Connection::work(ConnectionEvents& events, uint64_t nowMs) {
  nowMs_ = nowMs;
  turnBytes_ = 0;
  bool progress = true;
  while (progress && turnBytes_ < kTurnBytes && !gone_ && !closing_) {
    switch (input_) {
      case Input::Frame:
        progress = takeFrames(events);
        break;
      case Input::Payload:
        progress = takePayload(events);
        break;
      case Input::Trailer:
        progress = takeTrailer(events);
        break;
      case Input::Discard:
        progress = takeDiscard();
        break;
      case Input::Staging:
        progress = takeStaging(events);
        break;
    }
  }
  if (lingering_) linger();
  return progress && !gone_ && !closing_;
}

/// One frame that is there already, or one receive.
bool Connection::takeFrames(ConnectionEvents& events) {
  if (outputFull()) {
    pausedForOutput_ = true;
    return false;
  }
  try {
    const std::optional<wire::Body> body = decoder_.next();
    if (body) {
      turnBytes_ += body->size();
      events.onFrame(*this, *body);
      return true;
    }
  } catch (const wire::Malformed& problem) {
    events.onMalformed(*this, problem.what());
    return false;
  }
  const size_t count = receive(decoder_.writable());
  decoder_.received(count);
  return count > 0;
}

bool Connection::takePayload(ConnectionEvents& events) {
  if (remaining_ > 0) {
    // The beginning may have come together with the frame.
    const std::span<const uint8_t> early = decoder_.takeRaw(remaining_);
    size_t count = early.size();
    if (count > 0) {
      crc_ = crc32cCopy(segment_.data() + at_, early.data(), count, crc_);
      turnBytes_ += count;
    } else {
      const std::span<uint8_t> into = segment_.subspan(at_, std::min<uint64_t>(remaining_, kReceiveBytes));
      count = receive(into);
      if (count == 0) return false;
      crc_ = crc32c(into.data(), count, crc_);
    }
    at_ += count;
    remaining_ -= count;
  }
  if (remaining_ == 0) {
    input_ = Input::Trailer;
    return takeTrailer(events);
  }
  return true;
}

bool Connection::takeTrailer(ConnectionEvents& events) {
  const std::span<const uint8_t> early = decoder_.takeRaw(trailer_.size() - trailerBytes_);
  std::copy(early.begin(), early.end(), trailer_.begin() + static_cast<long>(trailerBytes_));
  trailerBytes_ += early.size();
  if (trailerBytes_ < trailer_.size()) {
    // Through the decoder: the next frame is probably right behind these four bytes.
    const size_t count = receive(decoder_.writable());
    decoder_.received(count);
    return count > 0;
  }
  uint32_t sent = 0;
  std::memcpy(&sent, trailer_.data(), sizeof sent);
  completed(events, sent);
  return true;
}

bool Connection::takeDiscard() {
  const size_t early = decoder_.takeRaw(remaining_).size();
  size_t count = early;
  if (early == 0 && remaining_ > 0) {
    std::array<uint8_t, 65536> scratch;
    count = receive(std::span(scratch).first(std::min<uint64_t>(remaining_, scratch.size())));
    if (count == 0) return false;
  }
  remaining_ -= count;
  if (remaining_ == 0) input_ = Input::Frame;
  return true;
}

/// A bounded piece of a copy; the rest in the next turns.
bool Connection::takeStaging(ConnectionEvents& events) {
  const size_t count = std::min<uint64_t>(remaining_, kTurnBytes - std::min(turnBytes_, kTurnBytes - 1));
  crc_ = crc32cCopy(segment_.data() + at_, staging_.bytes().data() + from_, count, crc_);
  at_ += count;
  from_ += count;
  remaining_ -= count;
  turnBytes_ += count;
  inputProgressMs_ = nowMs_;
  if (remaining_ == 0) completed(events, expectedCrc_);
  return true;
}

void Connection::completed(ConnectionEvents& events, uint32_t sentCrc) {
  input_ = Input::Frame;
  events.onPayload(*this, crc_, sentCrc);
}

/// 0 when nothing is there now; gone() when nothing will come.
size_t Connection::receive(std::span<uint8_t> into) {
  net::ReceivedBytes received;
  if (local_) {
    received = net::receiveWithDescriptors(fd(), into, &descriptors_);
  } else {
    received.count = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
    received.errorNumber = received.count < 0 ? errno : 0;
  }
  if (received.count > 0) {
    inputProgressMs_ = nowMs_;
    turnBytes_ += static_cast<size_t>(received.count);
    return static_cast<size_t>(received.count);
  }
  if (received.count == 0) {
    const bool inOrder = input_ == Input::Frame && !decoder_.pending();
    abandon(inOrder ? "" : "closed in the middle of a frame or payload");
  } else if (received.errorNumber != EAGAIN && received.errorNumber != EINTR) {
    abandon(systemError("receive", received.errorNumber).text());
  }
  return 0;
}

void Connection::abandon(const std::string& why) {
  if (!gone_) problem_ = why;
  gone_ = true;
}

void Connection::linger() {
  std::array<uint8_t, 65536> scratch;
  const ssize_t count = ::recv(fd(), scratch.data(), scratch.size(), MSG_DONTWAIT);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
}

void Connection::expire(uint64_t nowMs) {
  if (lingering_ && nowMs >= lingerUntilMs_) gone_ = true;
}

bool Connection::takeResume() {
  const bool resume = pausedForOutput_ && !outputFull() && !closing_ && !gone_;
  if (resume) pausedForOutput_ = false;
  return resume;
}

uint32_t Connection::interest() const {
  uint32_t events = 0;
  const bool wantsInput = input_ != Input::Staging && !outputFull();
  if (lingering_ || (!closing_ && wantsInput)) events |= EPOLLIN;
  if (outputBlocked_) events |= EPOLLOUT;
  return events;
}

uint64_t Connection::stalledSinceMs() const {
  const bool midInput = !closing_ && !pausedForOutput_ && (input_ != Input::Frame || decoder_.pending());
  const uint64_t inputSince = midInput ? inputProgressMs_ : 0;
  const uint64_t outputSince = output_.empty() || outputFresh_ ? 0 : outputProgressMs_;
  if (inputSince == 0 || outputSince == 0) return std::max(inputSince, outputSince);
  return std::min(inputSince, outputSince);
}

}  // namespace kvpool::node
