// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "engine/core/plan.h"

namespace kvpool::engine {

/// The lines of one batch towards one peer, and how far they are.
struct Task {
  enum class Phase {
    Planning,      // waits for a connection, or for a description that is new enough
    Transferring,  // requests are on their way
    Notifying,
  };

  BatchId batch = 0;
  TransferOp op = TransferOp::Write;
  Phase phase = Phase::Planning;
  std::vector<uint32_t> lines;         // of this attempt
  std::map<uint32_t, int32_t> failed;  // of these, why
  std::vector<uint32_t> done;          // lines of all attempts
  std::vector<uint32_t> unregistered;  // of all attempts; the peer was asked, there is no use in asking again
  uint32_t attempt = 1;
  uint64_t askedBefore = 0;  // descriptions asked for before this attempt: older ones are not believed to lack a region
  size_t requestsOpen = 0;
  bool moving = false;  // CANN uses its memory: it ends when that has, whatever becomes of the connection

  void fail(uint32_t line, int32_t status) { failed.emplace(line, status); }
};

using TaskId = uint64_t;

/// One request of a task, waiting or on its way. Its memory is named by the actions that move it.
struct Request {
  enum class Kind { Write, Read, Notify };
  /// How its bytes go. PeerPulls: the peer may read the caller's memory until it has answered. WePull: once it says
  /// that we may. Pulling: that is going on.
  enum class Way { Socket, PeerPulls, WePull, Pulling };

  Kind kind = Kind::Write;
  TaskId task = 0;
  PlannedRequest plan;
  bool payloadUnsent = false;  // of a write: the socket may still read the caller's memory
  bool orphan = false;         // its batch has ended; what comes for it is dropped
  Way way = Way::Socket;
  bool socketOnly = false;  // the other ways did not do
};

}  // namespace kvpool::engine
