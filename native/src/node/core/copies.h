// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/status.h"
#include "node/core/commands.h"
#include "node/core/core_context.h"

namespace kvpool::node {

/// Copies of objects from other nodes, as the leader asks for them to repair and to drain. This node is the client of
/// the source: it dials its data endpoint, asks for the payload as a reader does, and takes it straight into the extent
/// it reserved. What authority and removals say is asked again before the commit. A connection to a source is kept for
/// a while, so that many small copies do not dial for each.
class Copies {
 public:
  /// Copies at a time; beyond, KV_QUEUE_FULL.
  static constexpr size_t kRunningMax = 8;
  /// Connections without a copy that are kept, and connections in any state.
  static constexpr size_t kIdleMax = 8;
  static constexpr size_t kLinksMax = 32;
  /// For the Welcome, and for the answer to a read.
  static constexpr uint64_t kAnswerMs = 5000;
  /// For a payload; and slower than this for its length ends it too.
  static constexpr uint64_t kTransferMs = 60'000;
  static constexpr uint64_t kBytesPerMsMin = 1024;
  static constexpr uint64_t kIdleMs = 5000;

  explicit Copies(CoreContext& context) : context_(context) {}

  /// A command that was admitted; answered in context.answers, now or when it is done.
  void begin(uint64_t nowMs, ConnectionId master, const Copy& command);

  [[nodiscard]] bool owns(ConnectionId id) const { return linkOf(id) != nullptr; }
  [[nodiscard]] size_t running() const;

  void dialled(uint64_t nowMs, ConnectionId id, uint64_t source, const std::string& peer);
  void dialFailed(uint64_t source, const std::string& why);
  /// Throws wire::Malformed for what is not the protocol.
  void frame(uint64_t nowMs, ConnectionId id, wire::Body body);
  void malformed(ConnectionId id, const std::string& what);
  void payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent);
  void closed(ConnectionId id);
  /// The connection ends soon, with the certificates by which it was opened: no further copy begins on it.
  void renew(ConnectionId id);
  void tick(uint64_t nowMs);

 private:
  struct Task {
    ConnectionId master;
    uint64_t requestId;
    Authority authority;
    ObjectId objectId;
    ExtentRef source;
    uint64_t payloadLength;
    uint32_t payloadCrc;
    uint32_t slot;
  };
  enum class State { Dialing, Greeting, Idle, Asked, Receiving, Closing };
  struct Link {
    std::string address;
    uint64_t incarnation = 0;
    State state = State::Dialing;
    ConnectionId connection = 0;
    std::string peer;
    uint64_t untilMs = 0;
    bool endsSoon = false;
    std::optional<Task> task;
    std::optional<uint32_t> abandonedSlot;  // given up, but bytes may still reach it until the connection is closed
  };

  [[nodiscard]] const Link* linkOf(ConnectionId id) const;
  Link& at(ConnectionId id);
  Link* idleLink(const Copy& command);
  void ask(uint64_t nowMs, Link& link);
  void greeted(uint64_t nowMs, Link& link, wire::Body body);
  void readable(uint64_t nowMs, Link& link, wire::Body body);
  void rest(Link& link);
  void fail(Link& link, const Status& why);
  void finish(Link& link, const Status& outcome, bool accepted);
  [[nodiscard]] wire::Hello helloTo(uint64_t incarnation) const;

  CoreContext& context_;
  std::map<uint64_t, Link> links_;  // by the number their dial has
  uint64_t lastLink_ = 0;
  uint64_t nowMs_ = 0;
};

}  // namespace kvpool::node
