// SPDX-License-Identifier: Apache-2.0
// What moves payloads between the segment and memory that clients offer: UCX or CANN.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ascend/core/route_counters.h"
#include "base/status.h"
#include "node/core/actions.h"

namespace kvpool::node {

/// What the shell is told by its links, from work() and from their end alone.
class RemoteEvents {
 public:
  virtual ~RemoteEvents() = default;
  virtual void onRemoteConnected(ConnectionId connection, const Status& outcome) = 0;
  virtual void onPulled(uint64_t transfer, bool good, uint32_t computed) = 0;
  virtual void onPushed(uint64_t transfer, bool good) = 0;
  /// The client cannot be reached any more; nothing more can be moved to or from it.
  virtual void onRemoteLost(ConnectionId connection, const std::string& why) = 0;
};

/// What became of transfers.
struct RemoteOutcomes {
  uint64_t transfers = 0;  ///< that ended well
  uint64_t failures = 0;
};

/// The memories of clients that are reached, one for each connection, and the payloads on their way. One thread.
class RemoteLinks {
 public:
  /// Checksummed or copied by one call of work() at most.
  static constexpr uint64_t kTurnBytes = uint64_t{1} << 20;
  /// Bytes read to see whether a client is really reached.
  static constexpr size_t kProbeBytes = 64;

  RemoteLinks() = default;
  /// Ends what is under way; afterwards nothing touches the segment.
  virtual ~RemoteLinks() = default;
  RemoteLinks(const RemoteLinks&) = delete;
  RemoteLinks& operator=(const RemoteLinks&) = delete;

  /// To be waited for when settled; -1: the event loop is woken instead.
  [[nodiscard]] virtual int descriptor() const { return -1; }

  virtual void connect(const ConnectRemote& wanted, uint64_t nowMs) = 0;
  virtual void pull(const PullPayload& wanted) = 0;
  virtual void push(const PushPayload& wanted) = 0;
  /// Of staging memory for the tier, which stays as it is until the event.
  virtual void pushStaged(const PushStaged& wanted, std::span<uint8_t> staged) = 0;
  /// What is under way still ends with its event.
  virtual void disconnect(ConnectionId connection) = 0;

  /// Goes on with everything and tells what came of it.
  virtual void work(uint64_t nowMs) = 0;
  /// Whether work() has nothing to do before the descriptor is readable or the loop is woken.
  [[nodiscard]] virtual bool settled() const = 0;
  /// Of protocols that count them.
  [[nodiscard]] virtual RemoteOutcomes outcomes() const { return {}; }
  /// Of CANN's channels.
  [[nodiscard]] virtual ascend::RouteCounters routes() const { return {}; }
  /// No client is connected or about to be; work() is due only when not settled.
  [[nodiscard]] virtual bool idle() const = 0;
};

}  // namespace kvpool::node
