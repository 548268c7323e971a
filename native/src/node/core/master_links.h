// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "node/core/core_context.h"
#include "node/core/leader_watch.h"
#include "node/core/master_commands.h"
#include "node/core/messages.h"

namespace kvpool::node {

/// The connections to the masters: dialled for ever, each with its own snapshot and the common stream of changes.
class MasterLinks {
 public:
  /// What a master may leave unread before its connection is closed.
  static constexpr uint64_t kUnsentBytesMax = uint64_t{64} << 20;
  /// Snapshots go on while less than this is unsent, so that changes and heartbeats never queue far behind them.
  static constexpr uint64_t kSnapshotUnsentBytes = uint64_t{512} << 10;
  /// Looks at the directory in one turn, so that a sparse one does not hold up the loop.
  static constexpr int kSnapshotLooks = 8;
  /// A leader of which nothing came for so long may hang: two of its heartbeats are missing.
  static constexpr uint64_t kSuspectMs = 500;
  static constexpr uint64_t kRedialMsMin = 200;
  static constexpr uint64_t kRedialMsMax = 2000;
  /// For a master whose name never had an address, while another one is connected: most of those a pool may have are
  /// never started, and every question is several to the cluster's DNS.
  static constexpr uint64_t kUnknownRedialMsMax = 30000;

  MasterLinks(CoreContext& context, MasterCommands& commands);

  [[nodiscard]] bool owns(ConnectionId id) const { return find(id) != nullptr; }
  [[nodiscard]] uint32_t connected() const;

  void dialled(uint64_t nowMs, ConnectionId id, size_t master, const std::string& peer);
  /// `refused`: somebody is there and says that nobody listens; not a time-out.
  void dialFailed(uint64_t nowMs, size_t master, bool refused, const std::string& why);
  /// The connection was taken there, and ended before TLS had said who took it.
  void dialDropped(uint64_t nowMs, size_t master, const std::string& why);
  /// There is no such master, or not yet.
  void nameUnknown(uint64_t nowMs, size_t master, const std::string& why);
  /// Throws wire::Malformed for what is not the protocol.
  void frame(uint64_t nowMs, ConnectionId id, wire::Body body);
  void malformed(ConnectionId id, const std::string& what);
  void sent(ConnectionId id, uint64_t bytes);
  void closed(uint64_t nowMs, ConnectionId id);
  void tick(uint64_t nowMs);

  /// Tells every master that this node and its memory end, and closes; none is dialled any more.
  void leave();
  /// No connection is left.
  [[nodiscard]] bool closedAll() const;

  /// Hands changes of the directory to every master, and behind them the answers that wait. Called before anything that
  /// must come after them in the stream.
  void sendChanges();
  /// Lets snapshots go on where there is room.
  void continueSnapshots();
  /// Of the connected masters, what the slowest has not taken yet.
  [[nodiscard]] uint64_t mostUnsentBytes() const;

 private:
  enum class State { Waiting, Dialing, Greeting, Streaming, Closing };
  struct Link {
    State state = State::Waiting;
    ConnectionId connection = 0;
    std::string peer;
    bool known = false;       // its name has had an address
    std::string lastProblem;  // told once, not at every attempt
    uint64_t dialAtMs = 0;
    uint64_t redialMs = kRedialMsMin;
    uint64_t heardAtMs = 0;
    uint64_t statsAtMs = 0;
    uint64_t unsentBytes = 0;
    RecordStream::Cursor snapshot;
  };

  [[nodiscard]] const Link* find(ConnectionId id) const;
  [[nodiscard]] size_t numberOf(const Link& link) const { return static_cast<size_t>(&link - links_.data()); }
  Link& at(ConnectionId id);
  void greet(Link& link, wire::Body body);
  void beginStream(Link& link);
  void continueSnapshot(Link& link);
  void watchHolder(const Link& link, const Authority& fenced);
  void leaderLeaves(const Link& link, const Authority& authority);
  void dial(Link& link);
  void answerHeartbeat(uint64_t nowMs, Link& link, uint64_t beat);
  [[nodiscard]] std::string_view addressOf(size_t master) const;
  void tellLeaderGone();
  void tellLeaderGone(Link& link, const LeaderWatch::Verdict& verdict);
  void sendStats(Link& link);
  void tellTierProblem();
  void send(Link& link, Frames frames);
  void send(Link& link, wire::Bytes frames) { send(link, std::make_shared<const wire::Bytes>(std::move(frames))); }
  void close(Link& link, const std::string& reason);
  void closeToLeave(Link& link);
  void redialLater(uint64_t nowMs, Link& link, const std::string& problem, uint64_t longestMs = kRedialMsMax);
  void hurry(uint64_t nowMs);
  uint64_t random();

  CoreContext& context_;
  MasterCommands& commands_;
  std::vector<Link> links_;
  std::set<uint32_t> damaged_;  // slots that snapshots found in this turn
  LeaderWatch watch_;
  bool leaving_ = false;
  std::string toldTierProblem_;
  uint64_t randomState_;
};

}  // namespace kvpool::node
