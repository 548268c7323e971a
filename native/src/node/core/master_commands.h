// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>

#include "node/core/commands.h"
#include "node/core/copies.h"
#include "node/core/core_context.h"
#include "node/core/purge_sweep.h"
#include "node/core/tier.h"

namespace kvpool::node {

/// Does what masters command, if they may. Answers go to context.answers; MasterLinks sends them behind the records.
class MasterCommands {
 public:
  /// Fences and purges that may wait for a sweep.
  static constexpr size_t kWaitingMax = 256;

  MasterCommands(CoreContext& context, Copies& copies, Tier& tier)
      : context_(context), copies_(copies), tier_(tier), sweep_(context) {}

  /// False when a message of this type is no command. Throws wire::Malformed for what is not the protocol.
  bool frame(uint64_t nowMs, ConnectionId master, uint16_t type, wire::Body body);
  void masterClosed(ConnectionId master);

  /// Whether continueWork() has something to do.
  [[nodiscard]] bool busy() const;
  void continueWork();

 private:
  /// Answered when everything below the purge id is freed in memory, and dead on the SSD; a fence also behind what that
  /// has to clear.
  struct Waiting {
    ConnectionId master;
    uint64_t requestId;
    Authority authority;
    bool isFence;
    bool onTier;  // there was an SSD tier when it came
  };

  void fence(ConnectionId master, const Fence& request);
  void free(ConnectionId master, const FreeRequest& request);
  void purge(ConnectionId master, const Purge& request);
  void keepTombstones(ConnectionId master, const KeepTombstones& request);
  void activate(ConnectionId master, const Activate& request);
  void copy(uint64_t nowMs, ConnectionId master, const Copy& request);

  /// Whether the authority may command; answers when it may not.
  bool admit(ConnectionId master, uint64_t requestId, const Authority& authority);
  void sweepIfRaised(const ObjectId& before);
  void wait(const Waiting& waiting);
  [[nodiscard]] bool isReady(const Waiting& waiting) const;
  void finish(const Waiting& waiting);
  void answerFence(ConnectionId master, uint64_t requestId, bool accepted);

  CoreContext& context_;
  Copies& copies_;
  Tier& tier_;
  PurgeSweep sweep_;
  std::deque<Waiting> waiting_;
};

}  // namespace kvpool::node
