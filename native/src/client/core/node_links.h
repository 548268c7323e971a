// SPDX-License-Identifier: Apache-2.0
// The storage nodes this client moves bytes to and from. Each life of a node (incarnation) has a tcp connection and, on
// this machine, a connection through shared memory, which is preferred.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "client/core/context.h"
#include "client/core/node_connection.h"

namespace kvpool::client {

class NodeLinks {
 public:
  explicit NodeLinks(Context& context) : context_(context) {}

  /// Remembers where the nodes of a reply are. Call before starting transfers to them.
  void learn(const std::vector<NodeAddress>& nodes);
  /// Whether this life of a node can share memory with us.
  [[nodiscard]] bool isLocal(uint64_t incarnation) const;
  /// Whether work for this node stands still.
  [[nodiscard]] bool isStalled(uint64_t incarnation) const;

  /// The result comes with takeResults(), at once when the node cannot be reached.
  void start(const Transfer& transfer, const PoolId& pool);
  std::vector<TransferResult> takeResults() { return std::exchange(results_, {}); }
  void abandon(BatchId batch);

  /// Who uses the connection, or null.
  NodeConnection* nodeConnection(ConnectionId connection);
  /// The connection, if it is by TCP, ends soon: what is under way ends on it, and what comes takes another one.
  void renew(ConnectionId connection);
  /// Memory may not be shared any more.
  void endShared();
  void tick();
  /// Gives tcp the transfers whose shared memory connection failed before they began.
  void rescueStranded(const PoolId& pool);
  void closeAll();

 private:
  struct Link {
    NodeAddress address;
    std::unique_ptr<NodeConnection> tcp;
    std::unique_ptr<NodeConnection> shm;
    std::vector<std::unique_ptr<NodeConnection>> former;  // by TCP, until nothing is under way
    Time lastUse = 0;
  };

  void settle(Link& link, const NodeAddress& node);
  static bool isUnused(const Link& link) {
    return (!link.tcp || link.tcp->unused()) && (!link.shm || link.shm->unused()) && link.former.empty();
  }
  static void closeUnused(Link& link);
  static void closeConnections(Link& link, const Status& why);
  void startTcp(Link& link, const Transfer& transfer, const PoolId& pool);
  [[nodiscard]] bool mayShare(const Link& link) const;
  [[nodiscard]] bool prefersShm(const Link& link, const Transfer& transfer) const;
  void refuse(const Transfer& transfer, int32_t status, const std::string& sentence);
  void makeRoom();

  Context& context_;
  std::vector<TransferResult> results_;
  std::map<uint64_t, Link> links_;  // by incarnation
};

}  // namespace kvpool::client
