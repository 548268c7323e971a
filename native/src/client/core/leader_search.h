// SPDX-License-Identifier: Apache-2.0
// Finds the serving leader among the masters and notices when it is gone.
//
// While no leader is known every master is dialled at once and asked with an ExistsRequest without keys, which a
// serving leader answers KV_OK; the others are asked again after a backoff. Once one serves, the connections to the
// others end, but for as many standbys as the settings have: one that follows the leader is then asked without a
// handshake. When nothing comes from the leader for a while the others are asked again, beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "client/core/context.h"

namespace kvpool::client {

class LeaderSearch {
 public:
  explicit LeaderSearch(Context& context);

  /// Connection to the serving leader.
  [[nodiscard]] std::optional<ConnectionId> leader() const;
  [[nodiscard]] const PoolId& pool() const { return pool_; }
  [[nodiscard]] bool owns(ConnectionId connection) const;

  /// Why there is no leader: the status that says most, and a sentence that names each master and what it said.
  [[nodiscard]] Status whyNone() const;
  /// Whether waiting cannot help: every master refused this client for what it is.
  [[nodiscard]] bool hopeless() const;

  void opened(ConnectionId connection);
  void closed(ConnectionId connection, const std::string& reason);
  /// There is no such master, or not yet.
  void nameUnknown(ConnectionId connection, const std::string& reason);
  /// True when the reply was for the search; otherwise it answers a request of the caller.
  bool replied(ConnectionId connection, const Reply& reply);
  void heard(ConnectionId connection) {
    if (Master* master = find(connection)) master->lastHeard = context_.now;
  }
  void tick();

  /// Sends a request to the leader.
  void send(wire::Bytes frame);
  /// The leader answered a request with KV_OK: what it was asked before need not be doubted.
  void confirm();
  /// The leader said it does not serve (KV_NOT_LEADER, KV_RECOVERING): keep its connection, search again.
  void demote(int32_t status);
  /// The connection ends soon. That of the leader is dialled again by redial(), once no call is under way, or in
  /// kRenewPauseMs at the latest; others when they are needed.
  void renew(ConnectionId connection);
  [[nodiscard]] bool renews() const { return renewBy_.has_value(); }
  void redial();
  /// The connection broke the protocol or is not wanted any more.
  void drop(ConnectionId connection, Status why);
  void closeAll();

 private:
  enum class Stage { Away, Dialing, Greeting, Asked, Resting, Serving };

  struct Master {
    std::string address;
    Stage stage = Stage::Away;
    ConnectionId connection = 0;
    uint64_t question = 0;  // request id of the question in flight
    Time since = 0;         // start of the stage
    Time nextTry = 0;       // Away: dial, Resting: ask
    Time nextStandby = 0;   // Away: dial although another serves
    Time lastHeard = 0;
    Time lastSent = 0;
    uint32_t attempts = 0;
    uint32_t failures = 0;  // in a row; an answer ends it
    bool known = false;     // its name has had an address
    bool unknown = false;   // and now has none
    Status why;             // of the last failure
    std::string name;       // what it calls itself
    wire::Hello hello;      // as sent
  };

  Master* find(ConnectionId connection);
  void dial(Master& master);
  void ask(Master& master);
  void fail(Master& master, Status why);
  /// Nobody has ever been there, while others are or were.
  [[nodiscard]] bool isAbsent(const Master& master) const;
  /// Nothing came from the leader for a while, so it may have a successor.
  [[nodiscard]] bool inDoubt() const;
  [[nodiscard]] Master* serving();
  void leaveOthers();
  size_t keepStandbys(size_t kept, bool welcomed);
  void dialStandbys(size_t kept);
  [[nodiscard]] bool isStandby(const Master& master) const;
  [[nodiscard]] bool isDue(const Master& master) const;
  [[nodiscard]] static bool isWelcomed(const Master& master);
  void leaderLost(Master& lost);
  void waitForNextTry(Master& master);
  void rest(Master& master, Status why);
  void welcomed(Master& master, const wire::Welcome& welcome);
  void answered(Master& master, int32_t status);
  void watch(Master& master);

  Context& context_;
  std::vector<Master> masters_;
  const size_t firstStandby_;  // of masters_: clients prefer different ones
  PoolId pool_;
  bool found_ = false;
  Time lostAt_ = 0;  // when the last leader was lost
  std::optional<Time> renewBy_;
  const Master* renewed_ = nullptr;  // whose return is no change of leader
};

}  // namespace kvpool::client
