// SPDX-License-Identifier: Apache-2.0
// What one connection still has to send: frames and payloads in order. Payloads go to the kernel straight from the
// memory they lie in; a checksum that is not known yet is computed piece by piece just before each piece is sent, while
// it is in the cache.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "base/pieces.h"
#include "secure/session.h"
#include "wire/sbe.h"

namespace kvpool::net {

/// Encoded frames that may go to several peers.
using Frames = std::shared_ptr<const wire::Bytes>;

class OutQueue {
 public:
  /// Blocked: the socket, or the budget, takes no more.
  enum class Outcome { Empty, Blocked, Failed };
  /// Bytes of one send call: a piece of a payload should still be in the cache when the kernel copies it.
  static constexpr uint64_t kSendBytes = uint64_t{256} << 10;

  void addFrame(wire::Bytes frame) { addFrames(std::make_shared<const wire::Bytes>(std::move(frame))); }
  /// `descriptor` travels with the first byte and stays the caller's; -1: none.
  void addFrames(Frames frames, int descriptor = -1);
  /// Followed by its CRC-32C, `crc` if it is known. The memory is read until the payload is told as sent or the queue
  /// is dropped, until when `owner` is kept, too: the table of pieces is its own.
  void addPayload(uint64_t payload, const Pieces& memory, uint64_t length, std::optional<uint32_t> crc = {},
                  std::shared_ptr<const void> owner = {});
  /// From now on neither its memory nor its table of pieces is read: what is missing of it is filled up, and what
  /// follows says that it was given up. Nothing when all of it has gone.
  void giveUp(uint64_t payload);

  /// Sends until the socket takes no more, or has got `budget` bytes; tells each payload that went out whole. Failed:
  /// errno says why.
  Outcome flush(int fd, uint64_t budget, const std::function<void(uint64_t payload)>& sent);
  /// The same through a session, whose own bytes go first; behind them as without one where it is Raw. What is sealed,
  /// so much at a time, counts as sent once the socket has taken it.
  Outcome flush(secure::Session& session, int fd, uint64_t budget, const std::function<void(uint64_t payload)>& sent,
                uint64_t sealBytes = kSendBytes);
  [[nodiscard]] bool empty() const { return items_.empty(); }

  /// Bytes handed to the kernel so far; a change is progress.
  [[nodiscard]] uint64_t sentBytes() const { return sentBytes_; }
  /// The same with what is on its way of bytes that are sealed together.
  [[nodiscard]] uint64_t movedBytes() const { return sentBytes_ + movedSealedBytes_; }
  /// Of sentBytes(), those of frames that went out whole.
  [[nodiscard]] uint64_t sentFrameBytes() const { return sentFrameBytes_; }
  [[nodiscard]] uint64_t unsentBytes() const { return addedBytes_ - sentBytes_; }
  [[nodiscard]] size_t unsentPayloads() const { return unsentPayloads_; }
  /// The memory of the frames that wait, and of tables of pieces; payloads wait where they lie.
  [[nodiscard]] uint64_t unsentMemory() const { return unsentMemory_; }

 private:
  struct Item {
    std::shared_ptr<const void> owner;
    std::span<const uint8_t> frame;
    int descriptor = -1;
    bool isPayload = false;
    bool filled = false;  // given up: what is unsent are zeros
    uint64_t payload = 0;
    PieceCursor unsent;  // of the payload
    PieceCursor unchecked;
    uint64_t memory = 0;   // that it takes while it waits
    uint64_t length = 0;   // of the payload, or of the frame
    uint64_t checked = 0;  // payload bytes that are in the checksum
    uint32_t crc = 0;
    std::array<uint8_t, sizeof(uint32_t)> trailer{};
    uint64_t sent = 0;  // of length, and for a payload its trailer

    [[nodiscard]] uint64_t total() const { return isPayload ? length + trailer.size() : length; }
    [[nodiscard]] bool goesAlone() const { return descriptor >= 0 && sent == 0; }
  };

  class Gathered;

  static void check(Item& item, uint64_t end);
  static void fill(Item& item, uint64_t end);
  void gather(Gathered& out);
  ssize_t sendSome(int fd);
  void consume(uint64_t count, const std::function<void(uint64_t)>& sent);

  std::deque<Item> items_;
  uint64_t addedBytes_ = 0;
  uint64_t sentBytes_ = 0;
  uint64_t sentFrameBytes_ = 0;
  uint64_t sealedBytes_ = 0;  // of the first items, in the session, not with the kernel
  uint64_t movedSealedBytes_ = 0;
  uint64_t unsentMemory_ = 0;
  size_t unsentPayloads_ = 0;
};

}  // namespace kvpool::net
