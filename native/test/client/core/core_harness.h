// SPDX-License-Identifier: Apache-2.0
// Drives a ClientCore by hand: the test plays masters, nodes and the clock.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/core/client_core.h"
#include "master/master_messages.h"
#include "node/core/messages.h"

namespace kvpool::test {

using client::ConnectionId;
using client::LineResult;
using client::OpCode;
using client::TransferId;

inline const PoolId kPool{0x1122334455667788, 0x99aabbccddeeff00};
inline constexpr const char* kBootId = "boot-of-this-machine";

/// A node as grants and lookups name it; its address is derived from the number.
client::NodeAddress nodeAddress(uint64_t number, bool local = false);

/// A line of a batch with its value in one run of bytes.
inline client::Operation operation(std::string_view key, void* data, uint64_t length, int32_t refused = KV_OK) {
  return {key, Pieces(data, length), length, refused};
}

client::Config configFor(std::vector<std::string> masters, bool shm, bool ucx, bool tcp);

class CoreHarness {
 public:
  explicit CoreHarness(client::Config config);
  explicit CoreHarness(std::vector<std::string> masters = {"master-0:1"}, bool shm = false, bool ucx = false,
                       bool tcp = true);

  client::ClientCore core;
  client::Time now = 1000;

  // What the core did.
  ConnectionId expectDial(const std::string& address);
  [[nodiscard]] bool dials(const std::string& address);
  [[nodiscard]] bool closes(ConnectionId connection);
  /// The next frame sent on a connection, heartbeats left out; nothing when there is none.
  std::optional<wire::Bytes> nextBody(ConnectionId connection);
  wire::Bytes expectBody(ConnectionId connection);
  /// The next action of a kind, taken out.
  template <typename T>
  std::optional<T> next() {
    collect();
    for (auto at = actions_.begin(); at != actions_.end(); ++at) {
      if (!std::holds_alternative<T>(*at)) continue;
      T found = std::get<T>(std::move(*at));
      actions_.erase(at);
      return found;
    }
    return std::nullopt;
  }

  // What happens to it.
  void pass(int64_t ms);
  /// The time passes, and the leader stays.
  void passWith(ConnectionId leader, int64_t ms);
  /// The node has mapped what the client shares through its unix socket, and the client what the node does.
  ConnectionId attachShm(uint64_t number);
  void deliver(ConnectionId connection, const wire::Bytes& frame);
  void open(ConnectionId connection) { core.opened(now, connection); }
  void cut(ConnectionId connection) { core.closed(now, connection, "cut by the test"); }
  void nameless(ConnectionId connection) { core.nameUnknown(now, connection, "no address, says the test"); }
  void welcome(ConnectionId connection, wire::Role role, uint64_t incarnation, PoolId pool = kPool);
  /// Dials, welcomes and makes a master say that it serves.
  ConnectionId lead(const std::string& address = "master-0:1");
  /// Answers the question whether a master serves.
  void answerProbe(ConnectionId connection, int32_t status);
  /// Accepts the dial to a node and welcomes the client there.
  ConnectionId acceptNode(uint64_t number);

  // Batches.
  uint64_t submit(OpCode op, std::vector<client::Operation> lines, int64_t timeoutMs = 30000);
  uint64_t submit(client::Submission submission, int64_t timeoutMs = 30000);
  uint64_t put(const std::string& key, std::string value, int64_t timeoutMs = 30000);
  uint64_t get(const std::string& key, uint64_t room, int64_t timeoutMs = 30000);
  /// Results of a batch; nothing while it runs.
  std::optional<std::vector<LineResult>> result(uint64_t batch);
  /// Status of the only line of a finished batch.
  int32_t expectStatus(uint64_t batch);
  [[nodiscard]] std::string& memory(size_t index) { return memory_.at(index); }
  [[nodiscard]] std::string& latestMemory() { return memory_.back(); }

  // The leader's side of the requests.
  GrantRequest expectGrant(ConnectionId leader) { return readGrantRequest(expectBody(leader)); }
  PublishRequest expectPublish(ConnectionId leader) { return readPublishRequest(expectBody(leader)); }
  KeysRequest expectLookup(ConnectionId leader) { return readLookupRequest(expectBody(leader)); }
  void replyGrant(ConnectionId leader, const GrantRequest& request, int32_t status,
                  const std::vector<client::NodeAddress>& nodes, ObjectId object = {1, 1});
  /// The same with pins that the leader says, whatever was asked for.
  void replyGrant(ConnectionId leader, GrantRequest request, const Retention& pins, uint64_t node);
  /// The pool is full, and something may be evicted in so many milliseconds.
  void promiseRoom(ConnectionId leader, const GrantRequest& request, uint32_t roomMs);
  void refuseGrant(ConnectionId leader, const GrantRequest& request, int32_t wholeStatus);
  void replyPublish(ConnectionId leader, const PublishRequest& request, int32_t status);
  void replyLookup(ConnectionId leader, const KeysRequest& request, const std::string& value,
                   const std::vector<client::NodeAddress>& nodes, uint32_t leaseMs = 10000,
                   uint16_t segment = kMemorySegment);
  void replyLookupStatus(ConnectionId leader, const KeysRequest& request, int32_t status);

  // A node's side of transfers.
  struct InlineWrite {
    uint64_t request = 0;
    std::string key;
    std::string payload;
    ObjectId object;
    Retention retention;
  };
  InlineWrite expectWrite(ConnectionId node);
  void replyWrite(ConnectionId node, uint64_t request, int32_t status);
  /// Answers a read with these bytes and a right checksum of them.
  void replyRead(ConnectionId node, uint64_t request, const std::string& bytes);
  void refuseRead(ConnectionId node, uint64_t request, int32_t status);

 private:
  void collect();

  std::deque<client::Action> actions_;
  std::map<uint64_t, std::vector<LineResult>> results_;
  std::deque<std::string> memory_;  // never moves: batches point into it
  std::deque<std::string> keys_;
  uint64_t lastBatch_ = 0;
};

}  // namespace kvpool::test
