// SPDX-License-Identifier: Apache-2.0
// The transfer engine as a state machine, without I/O, clock or threads: what happened goes in, actions come out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/core/context.h"
#include "engine/core/peer_link.h"
#include "engine/core/sessions.h"

namespace kvpool::engine {

class EngineCore {
 public:
  explicit EngineCore(Config config) : context_(std::move(config)), sessions_(context_) {}

  // The application.
  /// `ofDevice`: the addresses of those that are memory of a device, which CANN alone moves.
  Status registerRegions(std::span<const kv_region> regions, std::span<const uint64_t> ofDevice = {}) {
    return context_.regions.add(regions, ofDevice);
  }
  /// See RegionTable::judge().
  [[nodiscard]] Status judgeRegions(std::span<const kv_region> regions) const {
    return context_.regions.judge(regions);
  }
  Status unregisterRegions(std::span<const kv_region> regions);
  void submit(Time now, Submission submission);
  /// What a peer said is registered there; nothing when there is no connection to it.
  [[nodiscard]] const Description* descriptionOf(const std::string& peer) const;
  std::deque<Notification>& notifications() { return context_.notifications; }
  /// Ends every batch with KV_CLOSED. All moves must have ended.
  void shutDown(Time now);

  // Who is who.
  /// By our certificate, now: before any connection, and again when it changes. Connections with those who are not of
  /// our tenant any more end.
  void identify(Time now, const Principal& self);
  /// A connection that we dialled is to be replaced by one with newer certificates; nothing that is under way is lost.
  void renew(Time now, ConnectionId id) {
    if (PeerLink* link = linkOf(id)) link->renew(now);
  }

  // The network.
  /// For a connection that a peer makes.
  ConnectionId newConnection() { return context_.newConnection(); }
  /// Of that number. `who` the peer is by its certificate; nothing: it has none.
  /// `ours`: our end, if bytes may go from memory to memory where the peer is on this machine.
  void accepted(Time now, ConnectionId id, const std::string& peer, std::optional<Principal> who = {},
                const std::optional<Introduction>& ours = {}) {
    sessions_.accepted(now, id, peer, std::move(who), ours);
  }
  /// Null: the peer shows no certificate.
  void opened(Time now, ConnectionId id, const Principal* who = nullptr, const std::optional<Introduction>& ours = {}) {
    if (PeerLink* link = linkOf(id)) link->opened(now, who, ours);
  }
  /// The end of a Pull.
  void pulled(Time now, ConnectionId id, PayloadId pull, const Pulled& end);
  /// Throws as everything in wire/sbe.h does; malformed() is then due.
  void frame(Time now, ConnectionId id, wire::Body body);
  void malformed(Time now, ConnectionId id, const std::string& what);
  void payloadReceived(Time now, ConnectionId id, uint32_t computedCrc, uint32_t sentCrc);
  void payloadSent(Time now, ConnectionId id, PayloadId payload);
  /// Bytes came; the frames and payloads that they end are told apart.
  void received(Time now, ConnectionId id);
  /// Bytes went out; frames that take so much memory still wait.
  void sent(Time now, ConnectionId id, uint64_t unsentFrames);
  /// The end of a Move.
  void moved(Time now, uint64_t move, const Status& status);
  void closed(Time now, ConnectionId id, const std::string& reason);
  /// Closed because the peer's host has acknowledged nothing for the connect timeout.
  void silent(Time now, ConnectionId id, const std::string& reason);
  void tick(Time now);

  std::vector<Action> takeActions() { return std::exchange(context_.actions, {}); }

  [[nodiscard]] const Counters& counters() const { return context_.counters; }
  [[nodiscard]] const RegionTable& regions() const { return context_.regions; }
  [[nodiscard]] const std::string& explanation() const { return context_.explanation; }
  [[nodiscard]] const std::string& sameMachineRefusal() const { return context_.sameMachineRefusal; }
  [[nodiscard]] bool takesSameMachine() const { return context_.config.process.pid != 0; }
  [[nodiscard]] size_t peersConnected() const;
  [[nodiscard]] size_t clientsConnected() const { return sessions_.count(); }
  [[nodiscard]] int64_t connectTimeoutMs() const { return context_.config.connectTimeoutMs; }
  /// No batch runs.
  [[nodiscard]] bool quiet() const { return context_.batches.empty(); }

 private:
  PeerLink* linkTo(const std::string& peer);
  PeerLink* linkOf(ConnectionId id);
  void cancel(Time now, BatchId id);
  [[nodiscard]] bool isMoving(BatchId id) const;

  Context context_;
  Sessions sessions_;
  std::unordered_map<std::string, std::unique_ptr<PeerLink>> links_;
};

}  // namespace kvpool::engine
