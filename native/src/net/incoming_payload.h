// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/block_sums.h"
#include "base/pieces.h"
#include "secure/session.h"
#include "wire/frame.h"

namespace kvpool::net {

/// A payload on its way from a socket: the bytes behind a frame, and behind them the checksum that its sender computed.
/// They go straight to the memory they are for, or nowhere, and are checksummed as they arrive.
class IncomingPayload {
 public:
  /// Received and checksummed in one step; small enough to be in the cache for the checksum.
  static constexpr uint64_t kReceiveBytes = uint64_t{256} << 10;

  /// `destination`: nowhere if there is none; whoever names memory keeps it until the payload is whole, or dropped.
  /// `sum` is that of nothing yet.
  IncomingPayload(const std::optional<Pieces>& destination, uint64_t length, const RunningSum& sum = {});

  /// Whether so much is missing that a receive of its own spares more than it costs.
  [[nodiscard]] bool isWorthReceiving() const;
  /// One receive of the rest into its place, as recv(2): 0 when the peer has closed, -1 with errno.
  ssize_t receive(int socket);
  /// The same from what a session has received: as much as there is, at most kReceiveBytes. 0: more must be received.
  uint64_t open(secure::Session& session);

  /// With the checksum behind them.
  [[nodiscard]] uint64_t missingBytes() const { return missingPayload() + trailer_.size() - trailerReceived_; }
  /// What was received otherwise: at most missingBytes().
  void take(std::span<const uint8_t> bytes);

  /// The rest goes nowhere.
  void drop();

  /// Of the bytes that had a place.
  [[nodiscard]] uint32_t computedCrc() const { return sum_.crc(); }
  /// Once nothing is missing.
  [[nodiscard]] uint32_t sentCrc() const;

 private:
  [[nodiscard]] uint64_t missingPayload() const { return length_ - received_; }
  template <typename Take>
  void arrived(uint64_t count, Take take);

  bool dropped_;
  PieceCursor destination_;
  uint64_t length_;
  uint64_t received_ = 0;
  RunningSum sum_;
  std::array<uint8_t, wire::kPayloadTrailerBytes> trailer_{};
  size_t trailerReceived_ = 0;
};

}  // namespace kvpool::net
