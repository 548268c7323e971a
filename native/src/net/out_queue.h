// SPDX-License-Identifier: Apache-2.0
// What one connection still has to send: frames and payloads in order. Payloads go to the kernel straight from the
// caller's memory; their checksum is computed piece by piece just before each piece is sent, while it is in the cache.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "base/pieces.h"
#include "wire/sbe.h"

namespace kvpool::net {

class OutQueue {
 public:
  enum class Outcome { Empty, Blocked, Failed };

  void addFrame(wire::Bytes frame);
  /// Followed by its CRC-32C. The memory is read until the payload is told as sent, or the queue is dropped.
  void addPayload(uint64_t payload, const Pieces& memory, uint64_t length);

  /// Sends until the socket takes no more; tells each payload that went out whole. Failed: errno says why.
  Outcome flush(int fd, const std::function<void(uint64_t)>& sent);
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// Bytes handed to the kernel so far; a change is progress.
  [[nodiscard]] uint64_t sentBytes() const { return sentBytes_; }

  /// What the frames that wait take together; payloads wait in the caller's memory.
  [[nodiscard]] uint64_t frameBytes() const { return frameBytes_; }

 private:
  struct Item {
    wire::Bytes frame;  // a frame, or
    uint64_t payload = 0;
    PieceCursor unsent;  // of the payload
    PieceCursor unchecked;
    uint64_t length = 0;   // of the payload, or of the frame
    uint64_t checked = 0;  // payload bytes that are in the checksum
    uint32_t crc = 0;
    std::array<uint8_t, sizeof(uint32_t)> trailer{};
    uint64_t sent = 0;  // of length, and for a payload its trailer

    [[nodiscard]] bool isPayload() const { return frame.empty(); }
    [[nodiscard]] uint64_t total() const { return isPayload() ? length + trailer.size() : length; }
  };

  class Gathered;

  static void check(Item& item, uint64_t end);
  void gather(Gathered& out);
  void consume(uint64_t count, const std::function<void(uint64_t)>& sent);

  std::deque<Item> items_;
  uint64_t frameBytes_ = 0;
  uint64_t sentBytes_ = 0;
};

}  // namespace kvpool::net
