// SPDX-License-Identifier: Apache-2.0
#include "client/out_queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/crc32c.h"

namespace kvpool::client {
namespace {

constexpr size_t kPiecesMax = 64;
/// Bytes of one send call: a piece of a payload should still be in the cache when the kernel copies it.
constexpr uint64_t kSendBytes = uint64_t{256} * 1024;

}  // namespace

void OutQueue::addFrame(wire::Bytes frame) {
  Item& item = items_.emplace_back();
  item.length = frame.size();
  item.frame = std::move(frame);
}

void OutQueue::addPayload(TransferId transfer, const void* data, uint64_t length) {
  Item& item = items_.emplace_back();
  item.transfer = transfer;
  item.data = static_cast<const uint8_t*>(data);
  item.length = length;
}

size_t OutQueue::gather(iovec* pieces) {
  size_t count = 0;
  uint64_t bytes = 0;
  const auto add = [&](const uint8_t* from, uint64_t length) {
    // sendmsg reads only; iovec has no const form.
    pieces[count++] = {const_cast<uint8_t*>(from), static_cast<size_t>(length)};
    bytes += length;
  };
  for (Item& item : items_) {
    if (count + 2 > kPiecesMax || bytes >= kSendBytes) break;
    if (!item.isPayload()) {
      add(item.frame.data() + item.sent, item.length - item.sent);
      continue;
    }
    if (item.sent < item.length) {
      const uint64_t end = std::min(item.length, std::max(item.checked, item.sent + (kSendBytes - bytes)));
      if (end > item.checked) {
        item.crc = crc32c(item.data + item.checked, end - item.checked, item.crc);
        item.checked = end;
      }
      add(item.data + item.sent, end - item.sent);
      if (end < item.length) break;
    }
    const uint64_t trailerSent = item.sent > item.length ? item.sent - item.length : 0;
    std::memcpy(item.trailer.data(), &item.crc, sizeof item.crc);
    add(item.trailer.data() + trailerSent, item.trailer.size() - trailerSent);
  }
  return count;
}

void OutQueue::consume(uint64_t count, const std::function<void(TransferId)>& sent) {
  sentBytes_ += count;
  while (count > 0) {
    Item& item = items_.front();
    const uint64_t part = std::min(count, item.total() - item.sent);
    item.sent += part;
    count -= part;
    if (item.sent < item.total()) return;
    const bool wasPayload = item.isPayload();
    const TransferId transfer = item.transfer;
    items_.pop_front();
    if (wasPayload) sent(transfer);
  }
}

OutQueue::Outcome OutQueue::flush(int fd, const std::function<void(TransferId)>& sent) {
  while (!items_.empty()) {
    std::array<iovec, kPiecesMax> pieces;
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = gather(pieces.data());
    const ssize_t count = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
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

}  // namespace kvpool::client
