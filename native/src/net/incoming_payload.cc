// SPDX-License-Identifier: Apache-2.0
#include "net/incoming_payload.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kvpool::net {
namespace {

/// Below this much missing, one receive call for the rest and what follows beats sparing the copy.
constexpr uint64_t kWorthReceivingBytes = uint64_t{32} << 10;
/// Pieces of memory that one receive call fills.
constexpr size_t kPiecesOfARead = 256;

}  // namespace

IncomingPayload::IncomingPayload(const std::optional<Pieces>& destination, uint64_t length, const RunningSum& sum)
    : dropped_(!destination), length_(length), sum_(sum) {
  if (destination) destination_ = PieceCursor(*destination);
}

bool IncomingPayload::isWorthReceiving() const {
  return missingPayload() >= kWorthReceivingBytes;
}

ssize_t IncomingPayload::receive(int socket) {
  static thread_local std::array<uint8_t, kReceiveBytes> nowhere;
  std::array<iovec, kPiecesOfARead> pieces;
  size_t count = 0;
  uint64_t wanted = std::min(kReceiveBytes, missingPayload());
  if (dropped_) pieces[count++] = {nowhere.data(), std::exchange(wanted, 0)};
  for (PieceCursor at = destination_; wanted > 0 && count < pieces.size();) {
    const std::span<uint8_t> run = at.run(wanted);
    pieces[count++] = {run.data(), run.size()};
    at.advance(run.size());
    wanted -= run.size();
  }
  const ssize_t received = ::readv(socket, pieces.data(), static_cast<int>(count));
  if (received > 0) {
    arrived(static_cast<uint64_t>(received), [this](uint8_t* into, uint64_t length) { sum_.add(into, length); });
  }
  return received;
}

uint64_t IncomingPayload::open(secure::Session& session) {
  static thread_local std::array<uint8_t, kReceiveBytes> nowhere;
  const uint64_t wanted = std::min(kReceiveBytes, missingPayload());
  uint64_t opened = 0;
  while (opened < wanted) {
    const std::span<uint8_t> room = dropped_ ? std::span(nowhere) : destination_.run(wanted - opened);
    const size_t count = session.open(room.first(std::min<size_t>(room.size(), wanted - opened)));
    if (count == 0) break;
    arrived(count, [this](uint8_t* into, uint64_t length) { sum_.add(into, length); });
    opened += count;
  }
  return opened;
}

void IncomingPayload::take(std::span<const uint8_t> bytes) {
  const auto part = static_cast<size_t>(std::min<uint64_t>(bytes.size(), missingPayload()));
  const uint8_t* from = bytes.data();
  arrived(part, [this, &from](uint8_t* into, uint64_t length) {
    sum_.copy(into, std::exchange(from, from + length), length);
  });
  const std::span<const uint8_t> trailer = bytes.subspan(part);
  std::copy(trailer.begin(), trailer.end(), trailer_.begin() + static_cast<std::ptrdiff_t>(trailerReceived_));
  trailerReceived_ += trailer.size();
}

void IncomingPayload::drop() {
  dropped_ = true;
  destination_ = {};
}

uint32_t IncomingPayload::sentCrc() const {
  uint32_t crc = 0;
  std::memcpy(&crc, trailer_.data(), sizeof crc);
  return crc;
}

/// Goes on by `count` bytes; `take` is called for each run of memory that they fill.
template <typename Take>
void IncomingPayload::arrived(uint64_t count, Take take) {
  received_ += count;
  while (!dropped_ && count > 0) {
    const std::span<uint8_t> run = destination_.run(count);
    take(run.data(), run.size());
    destination_.advance(run.size());
    count -= run.size();
  }
}

}  // namespace kvpool::net
