// SPDX-License-Identifier: Apache-2.0
// Frames: u32 length of the body, u32 CRC-32C of the body, body; little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "wire/protocol.h"
#include "wire/sbe.h"

namespace kvpool::wire {

/// Room that variable parts of a message need, for appendFrame.
constexpr size_t textRoom(size_t length) {
  return sizeof(uint32_t) + length;
}
constexpr size_t groupRoom(size_t count, size_t entryBytes) {
  return 2 * sizeof(uint16_t) + count * entryBytes;
}

/// Writes length and checksum in front of the body that begins at `start` + kFrameHeaderBytes and ends with `out`.
void sealFrame(Bytes& out, size_t start);

/// Appends one frame. `fill` gets the wrapped message; `variableRoom` is at least what its groups and variable data
/// take. Throws std::length_error when that is more than a frame holds: callers bound their messages, and no peer is to
/// blame.
template <typename Message, typename Fill>
void appendFrame(Bytes& out, size_t variableRoom, Fill fill) {
  const size_t room = sbe::MessageHeader::encodedLength() + Message::sbeBlockLength() + variableRoom;
  if (room > kFrameBodyBytesMax) throw std::length_error("message does not fit into one frame");
  const size_t start = out.size();
  out.resize(start + kFrameHeaderBytes + room);
  Message message;
  message.wrapAndApplyHeader(reinterpret_cast<char*>(out.data() + start + kFrameHeaderBytes), 0, room);
  try {
    fill(message);
  } catch (const Malformed& overrun) {
    throw std::length_error(overrun.what());
  }
  out.resize(start + kFrameHeaderBytes + sbe::MessageHeader::encodedLength() + message.encodedLength());
  sealFrame(out, start);
}

/// The same as a frame of its own.
template <typename Message, typename Fill>
Bytes frameOf(size_t variableRoom, Fill fill) {
  Bytes out;
  appendFrame<Message>(out, variableRoom, fill);
  return out;
}

/// The frame that `append` would append, by itself: framed(appendHello, hello).
template <typename... Values>
Bytes framed(void (*append)(Bytes&, Values...), std::type_identity_t<Values>... values) {
  Bytes out;
  append(out, std::forward<Values>(values)...);
  return out;
}

/// The memory that a frame of so many bytes takes while it waits to be sent.
constexpr uint64_t queuedBytes(uint64_t frameBytes) {
  return frameBytes + 168;
}

/// Cuts a stream of bytes into frames. Receive into writable(), tell received(), then take next() until it has nothing.
/// Memory is bounded by one frame of the largest allowed body plus one receive block.
class FrameDecoder {
 public:
  explicit FrameDecoder(size_t bodyBytesMax = kFrameBodyBytesMax) : bodyBytesMax_(bodyBytesMax) {}

  /// For the peer that was welcomed: from now on bodies may be as large as this.
  void allowBodies(size_t bodyBytesMax) { bodyBytesMax_ = bodyBytesMax; }

  /// Where to receive; never empty. Ends the life of the body next() returned.
  std::span<uint8_t> writable();
  void received(size_t count) { end_ += count; }

  /// The next whole frame's body, or nothing yet. Throws Malformed on a wrong length or checksum; the stream has no
  /// way to go on after that.
  std::optional<Body> next();

  /// Bytes received behind the last frame taken, at most `countMax`: the beginning of a payload.
  std::span<const uint8_t> takeRaw(size_t countMax);

  /// Whether part of a frame waits for its rest.
  [[nodiscard]] bool pending() const { return end_ > begin_; }

 private:
  Bytes buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t bodyBytesMax_;
};

}  // namespace kvpool::wire
