// SPDX-License-Identifier: Apache-2.0
// The sending half of Connection.
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "net/socket.h"
#include "node/shell/connection.h"

namespace kvpool::node {
namespace {

constexpr size_t kPiecesPerSend = 32;

}  // namespace

void Connection::queue(Output output) {
  if (output_.empty()) outputFresh_ = true;
  output_.push_back(std::move(output));
}

void Connection::queuePayload(uint64_t offset, uint64_t length, uint32_t crc) {
  queue({nullptr, segment_.subspan(offset, length), crc, -1, true, {}});
}

void Connection::queueBuffer(ssd::BlockBuffer buffer, uint64_t length, uint32_t crc) {
  const std::span<const uint8_t> payload = buffer.bytes().first(length);
  queue({nullptr, payload, crc, -1, true, std::move(buffer)});
}

void Connection::flush(ConnectionEvents& events, uint64_t nowMs) {
  nowMs_ = nowMs;
  outputBlocked_ = false;
  size_t sentThisTurn = 0;
  while (!output_.empty() && !gone_) {
    if (std::exchange(outputFresh_, false)) outputProgressMs_ = nowMs;
    if (sentThisTurn >= kTurnBytes) {
      outputBlocked_ = true;  // it is writable, so the loop comes back at once, after the others
      return;
    }
    const ssize_t count = sendSome();
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) {
        outputBlocked_ = true;
      } else {
        abandon(systemError("send", errno).text());
      }
      return;
    }
    outputProgressMs_ = nowMs;
    sentThisTurn += static_cast<size_t>(count);
    drop(events, static_cast<size_t>(count));
  }
  if (closing_ && !lingering_ && !gone_) {
    ::shutdown(fd(), SHUT_WR);
    lingering_ = true;
    lingerUntilMs_ = nowMs + kLingerMs;
  }
}

/// Gathers pieces of the queue into one call. A descriptor travels with the first byte of its own frames only, so those
/// are sent alone.
ssize_t Connection::sendSome() {
  const Output& front = output_.front();
  if (front.descriptor >= 0 && sentOfFront_ == 0) {
    const std::array<int, 1> descriptors{front.descriptor};
    return net::sendWithDescriptors(fd(), *front.frames, descriptors);
  }
  std::array<iovec, kPiecesPerSend> pieces{};
  size_t count = 0;
  size_t skip = sentOfFront_;
  const auto add = [&](const void* data, size_t length) {
    const size_t skipped = std::min(skip, length);
    skip -= skipped;
    // sendmsg only reads, but its struct has no const.
    auto* bytes = const_cast<uint8_t*>(static_cast<const uint8_t*>(data));
    if (length > skipped) pieces[count++] = {bytes + skipped, length - skipped};
  };
  for (const Output& item : output_) {
    if (count + 2 > pieces.size() || (item.descriptor >= 0 && &item != &front)) break;
    if (item.isPayload) {
      add(item.payload.data(), item.payload.size());
      add(&item.crc, sizeof item.crc);
    } else {
      add(item.frames->data(), item.frames->size());
    }
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  return ::sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Connection::drop(ConnectionEvents& events, size_t bytes) {
  while (!output_.empty()) {
    const Output& front = output_.front();
    const size_t total = front.isPayload ? front.payload.size() + sizeof front.crc : front.frames->size();
    const size_t part = std::min(bytes, total - sentOfFront_);
    sentOfFront_ += part;
    bytes -= part;
    if (sentOfFront_ < total) return;
    const bool isPayload = front.isPayload;
    output_.pop_front();
    sentOfFront_ = 0;
    if (isPayload) {
      events.onPayloadSent(*this);
    } else {
      events.onFramesSent(*this, total);
    }
    if (bytes == 0) return;
  }
}

}  // namespace kvpool::node
