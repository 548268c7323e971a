// SPDX-License-Identifier: Apache-2.0
#include "net/out_queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "net/socket.h"
#include "wire/frame.h"
#include "wire/given_up.h"

namespace kvpool::net {
namespace {

constexpr size_t kPiecesOfASend = 256;
/// In place of bytes that are not to be read any more.
constexpr std::array<uint8_t, size_t{16} << 10> kFiller{};

}  // namespace

void OutQueue::addFrames(Frames frames, int descriptor) {
  static_assert(wire::queuedBytes(0) >= sizeof(Item));
  Item& item = items_.emplace_back();
  item.frame = *frames;
  item.length = frames->size();
  item.owner = std::move(frames);
  item.descriptor = descriptor;
  item.memory = wire::queuedBytes(item.length);
  addedBytes_ += item.length;
  unsentMemory_ += item.memory;
}

void OutQueue::addPayload(uint64_t payload, const Pieces& memory, uint64_t length, std::optional<uint32_t> crc,
                          std::shared_ptr<const void> owner) {
  Item& item = items_.emplace_back();
  item.isPayload = true;
  if (owner) item.memory = memory.pieces().size_bytes();
  item.owner = std::move(owner);
  item.payload = payload;
  item.unsent = item.unchecked = PieceCursor(memory);
  item.length = length;
  if (crc) {
    item.crc = *crc;
    item.checked = length;
  }
  addedBytes_ += item.total();
  unsentMemory_ += item.memory;
  ++unsentPayloads_;
}

/// Zeros go out in the place of what is in the checksum from `end` on. A CRC is linear: with those in its place it
/// differs by what these bytes alone, without what begins and ends a checksum, are worth.
void OutQueue::fill(Item& item, uint64_t end) {
  constexpr uint32_t kBare = UINT32_MAX;
  uint32_t worth = kBare;
  PieceCursor at = item.unsent;
  at.advance(end - item.sent);
  while (end < item.checked) {
    const std::span<const uint8_t> run = at.run(item.checked - end);
    worth = crc32c(run.data(), run.size(), worth);
    at.advance(run.size());
    end += run.size();
  }
  item.crc ^= worth ^ kBare;
  item.filled = true;
}

void OutQueue::giveUp(uint64_t payload) {
  uint64_t sealed = sealedBytes_;
  for (Item& item : items_) {
    const uint64_t handedOver = item.sent + std::min(sealed, item.total() - item.sent);
    sealed -= handedOver - item.sent;
    if (!item.isPayload || item.payload != payload) continue;
    if (!item.filled && handedOver < item.length) fill(item, handedOver);
    item.unsent = item.unchecked = {};  // also where all is sealed: a cursor reads its table when it moves
    return;
  }
}

/// The pieces of one send call.
class OutQueue::Gathered {
 public:
  explicit Gathered(uint64_t bytesMax = kSendBytes) : bytesMax_(bytesMax) {}
  [[nodiscard]] bool full() const { return count_ == pieces_.size() || bytes_ >= bytesMax_; }
  [[nodiscard]] uint64_t room() const { return bytesMax_ - std::min(bytes_, bytesMax_); }
  void add(const uint8_t* from, uint64_t length) {
    // sendmsg reads only; iovec has no const form.
    pieces_[count_++] = {const_cast<uint8_t*>(from), static_cast<size_t>(length)};
    bytes_ += length;
  }
  /// As much of [from, from + length) as there is room for; how much.
  uint64_t add(PieceCursor from, uint64_t length) {
    uint64_t added = 0;
    while (added < length && !full()) {
      const std::span<const uint8_t> run = from.run(std::min(length - added, room()));
      add(run.data(), run.size());
      from.advance(run.size());
      added += run.size();
    }
    return added;
  }
  uint64_t addFiller(uint64_t length) {
    uint64_t added = 0;
    while (added < length && !full()) {
      const uint64_t part = std::min({length - added, room(), uint64_t{kFiller.size()}});
      add(kFiller.data(), part);
      added += part;
    }
    return added;
  }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<const iovec> pieces() const { return std::span(pieces_).first(count_); }
  [[nodiscard]] msghdr message() {
    msghdr message{};
    message.msg_iov = pieces_.data();
    message.msg_iovlen = count_;
    return message;
  }

 private:
  const uint64_t bytesMax_;
  std::array<iovec, kPiecesOfASend> pieces_;
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

/// Takes the payload's bytes before `end` into its checksum.
void OutQueue::check(Item& item, uint64_t end) {
  while (item.checked < end) {
    const uint64_t missing = end - item.checked;
    const std::span<const uint8_t> run =
        item.filled ? std::span(kFiller).first(std::min<size_t>(missing, kFiller.size())) : item.unchecked.run(missing);
    item.crc = crc32c(run.data(), run.size(), item.crc);
    if (!item.filled) item.unchecked.advance(run.size());
    item.checked += run.size();
  }
}

void OutQueue::gather(Gathered& out) {
  for (Item& item : items_) {
    if (out.full() || item.goesAlone()) return;
    if (!item.isPayload) {
      out.add(item.frame.data() + item.sent, item.length - item.sent);
      continue;
    }
    if (item.sent < item.length) {
      const uint64_t missing = item.length - item.sent;
      const uint64_t end = item.sent + (item.filled ? out.addFiller(missing) : out.add(item.unsent, missing));
      check(item, end);
      if (end < item.length || out.full()) return;
    }
    const uint64_t trailerSent = item.sent > item.length ? item.sent - item.length : 0;
    const uint32_t crc = item.filled ? wire::givenUp(item.crc) : item.crc;
    std::memcpy(item.trailer.data(), &crc, sizeof crc);
    out.add(item.trailer.data() + trailerSent, item.trailer.size() - trailerSent);
  }
}

/// One call. A descriptor belongs to the first byte of its own frames, so those are sent alone.
ssize_t OutQueue::sendSome(int fd) {
  const Item& front = items_.front();
  if (front.goesAlone()) return sendWithDescriptors(fd, front.frame, std::span(&front.descriptor, 1));
  Gathered pieces;
  gather(pieces);
  const msghdr message = pieces.message();
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void OutQueue::consume(uint64_t count, const std::function<void(uint64_t)>& sent) {
  sentBytes_ += count;
  while (!items_.empty()) {
    Item& item = items_.front();
    const uint64_t part = std::min(count, item.total() - item.sent);
    if (item.isPayload && !item.filled && item.sent < item.length)
      item.unsent.advance(std::min(part, item.length - item.sent));
    item.sent += part;
    count -= part;
    if (item.sent < item.total()) return;
    const bool wasPayload = item.isPayload;
    const uint64_t payload = item.payload;
    if (!wasPayload) sentFrameBytes_ += item.length;
    unsentMemory_ -= item.memory;
    items_.pop_front();
    if (!wasPayload) continue;
    --unsentPayloads_;
    sent(payload);
  }
}

OutQueue::Outcome OutQueue::flush(int fd, uint64_t budget, const std::function<void(uint64_t)>& sent) {
  for (const uint64_t before = sentBytes_; !items_.empty();) {
    if (sentBytes_ - before >= budget) return Outcome::Blocked;
    const ssize_t count = sendSome(fd);
    if (count >= 0) {
      consume(static_cast<uint64_t>(count), sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Outcome::Blocked;
    } else if (errno != EINTR) {
      return Outcome::Failed;
    }
  }
  return Outcome::Empty;
}

OutQueue::Outcome OutQueue::flush(secure::Session& session, int fd, uint64_t budget,
                                  const std::function<void(uint64_t)>& sent, uint64_t sealBytes) {
  for (const uint64_t before = sentBytes_;;) {
    if (const std::span<const uint8_t> sealed = session.outgoing(); !sealed.empty()) {
      const ssize_t count = ::send(fd, sealed.data(), sealed.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::Blocked : Outcome::Failed;
      session.sent(static_cast<size_t>(count));
      movedSealedBytes_ += static_cast<uint64_t>(count);
      if (session.outgoing().empty() && sealedBytes_ > 0) consume(std::exchange(sealedBytes_, 0), sent);
      continue;
    }
    if (session.state() == secure::Session::State::Raw) return flush(fd, budget, sent);
    // Until the peer is authenticated the session has bytes of its own alone.
    if (items_.empty() || session.state() == secure::Session::State::Handshaking) return Outcome::Empty;
    if (sentBytes_ - before >= budget) return Outcome::Blocked;
    Gathered pieces(sealBytes);
    gather(pieces);
    sealedBytes_ = pieces.bytes();
    if (!session.seal(pieces.pieces())) {
      errno = EPIPE;
      return Outcome::Failed;
    }
  }
}

}  // namespace kvpool::net
