// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/principal.h"
#include "node/core/client_sessions.h"
#include "node/core/copies.h"
#include "node/core/core_context.h"
#include "node/core/master_commands.h"
#include "node/core/master_links.h"
#include "node/core/scrub.h"
#include "node/core/tier.h"

namespace kvpool::node {

struct CoreSnapshot {
  CoreStats counters;
  uint64_t usedBytes = 0;
  uint64_t objects = 0;
  uint64_t tombstones = 0;
  uint64_t idsHash = 0;
  Authority seen;
  bool fenced = false;
  uint32_t mastersConnected = 0;
  uint32_t clientsConnected = 0;
  uint32_t copiesRunning = 0;
  uint64_t tierBytes = 0;  // 0: no SSD tier
  uint64_t tierUsedBytes = 0;
  uint64_t tierObjects = 0;
  std::string tierProblem;
};

/// A storage node without sockets, clock and threads: what happened goes in, actions come out. The same core runs under
/// the epoll shell, in unit tests and in the simulation.
///
/// Every input may add actions; the shell takes them after each input and does them in order. endTurn() is due before
/// the shell waits: changes of the directory are gathered until then, so that a batch of small writes is one frame to
/// the masters. Times are milliseconds that never go back; tick() is due every kTickMs.
class NodeCore {
 public:
  static constexpr uint64_t kTickMs = 50;

  /// `directory` and `tier` have recovered; they and `state` outlive the core. Without an SSD tier `tier` is null.
  NodeCore(CoreConfig config, store::Directory& directory, store::StatePages& state, ssd::Table* tier = nullptr);

  /// `who`: whom its certificate names; nothing where there is no TLS, which has all rights.
  void accepted(uint64_t nowMs, ConnectionId id, bool local, const std::string& peer,
                const std::optional<Principal>& who = {});
  void dialled(uint64_t nowMs, ConnectionId id, size_t master, const std::string& peer);
  /// `refused`: every address of it answered that nobody listens.
  void dialFailed(uint64_t nowMs, size_t master, bool refused, const std::string& why);
  /// The connection was taken there, and ended from there before TLS had said who took it.
  void dialDropped(uint64_t nowMs, size_t master, const std::string& why);
  /// A dial found no address for the master's name.
  void nameUnknown(uint64_t nowMs, size_t master, const std::string& why) { masters_.nameUnknown(nowMs, master, why); }
  void sourceDialled(uint64_t nowMs, ConnectionId id, uint64_t source, const std::string& peer);
  void sourceDialFailed(uint64_t source, const std::string& why) { copies_.dialFailed(source, why); }
  void frame(uint64_t nowMs, ConnectionId id, wire::Body body);
  /// The connection's bytes are not frames; the shell reads no more of them.
  void malformed(ConnectionId id, const std::string& what);
  void payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent);
  void payloadSent(ConnectionId id) { clients_.payloadSent(id); }
  void stagingMapped(ConnectionId id, const Status& outcome) { clients_.stagingMapped(id, outcome); }
  void remoteConnected(ConnectionId id, const Status& outcome) { clients_.remoteConnected(id, outcome); }
  /// A PullPayload is over: nothing writes to the segment for it any more. `computed` is the checksum of what is there.
  void pulled(uint64_t transfer, bool good, uint32_t computed) { clients_.pulled(transfer, good, computed); }
  /// A PushPayload or PushStaged is over. `good`: the bytes are in the client's memory.
  void pushed(uint64_t transfer, bool good) { clients_.pushed(transfer, good); }
  /// To TakeStaging. `good`: there is some.
  void stagingTaken(uint64_t transfer, bool good) { clients_.stagingTaken(transfer, good); }
  void tierWritten(uint64_t op, const Status& outcome);
  void tierStored(const Status& outcome);
  void tierRead(uint64_t op, const Status& outcome);
  /// `bytes` of frames have left.
  void sent(ConnectionId id, uint64_t bytes) {
    if (masters_.owns(id)) masters_.sent(id, bytes);
  }
  /// The connection is gone, on our wish or not. Nothing is written to its extents any more.
  void closed(uint64_t nowMs, ConnectionId id);
  /// The certificates end soon by which it was opened; where this node has dialled it for copies, another one takes its
  /// place.
  void renew(ConnectionId id);
  void tick(uint64_t nowMs);

  /// Long work goes on by a slice, changes go to the masters, snapshots go on.
  void endTurn();
  /// Whether another turn is due at once, because long work has slices left.
  [[nodiscard]] bool busy() const { return sweepMayGoOn() || tierMayGoOn() || clients_.checking(); }

  [[nodiscard]] std::vector<Action> takeActions() { return context_.outbox.take(); }
  [[nodiscard]] CoreSnapshot snapshot() const;

  [[nodiscard]] bool transient() const { return context_.config.isTransient; }
  /// The memory ends with this node: the masters are told, so that nobody waits for it. Turns go on until hasLeft().
  void leave() { masters_.leave(); }
  /// The masters have heard it, or their connections are gone.
  [[nodiscard]] bool hasLeft() const { return masters_.closedAll(); }

  /// The last turn is over: a segment that is left without objects says so to the next life.
  void ended() {
    if (isEmpty()) context_.state.sayEmptied();
  }

 private:
  [[nodiscard]] bool isEmpty() const;
  [[nodiscard]] bool sweepMayGoOn() const;
  [[nodiscard]] bool tierMayGoOn() const;
  void tellReadersOfEnd();

  CoreContext context_;
  Copies copies_;
  Tier tier_;
  MasterCommands commands_;
  MasterLinks masters_;
  ClientSessions clients_;
  Scrub scrub_;
};

}  // namespace kvpool::node
