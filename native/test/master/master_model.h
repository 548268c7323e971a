// SPDX-License-Identifier: Apache-2.0
// A master small enough to trust in tests: the master's side of the wire as a state machine without sockets or clock.
// It follows the nodes' directory streams, fences, grants, publishes, looks up and removes. It does not elect, evict or
// repair; of its own it frees only what a newer object of the key has replaced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/own_keys.h"
#include "client/core/actions.h"
#include "master/master_messages.h"
#include "wire/handshake.h"

namespace kvpool::test {

using client::Time;

enum class MasterRole { Leader, Standby, Recovering };

class MasterModel {
 public:
  struct Settings {
    PoolId pool;
    std::string name = "test-master";
    uint64_t seed = 1;
    uint32_t objectLeaseMs = 0;  ///< 0: nothing is ever leased
    wire::VersionRange wire = wire::kWireVersions;
  };

  struct Outgoing {
    uint64_t connection = 0;
    wire::Bytes frame;   ///< empty when only closing
    bool close = false;  ///< after the frame
  };

  explicit MasterModel(Settings settings);

  /// A new leader takes an epoch above every one it knows and fences its nodes.
  void setRole(MasterRole role);
  [[nodiscard]] MasterRole role() const { return role_; }

  /// How often a node began to tell its directory.
  [[nodiscard]] uint64_t directories() const { return directories_; }
  /// Whose keys a client names, by its certificate; without one they are of `default`.
  void certified(uint64_t connection, const Principal& who) { keys_[connection] = OwnKeys(who, true); }
  void closed(uint64_t connection);
  void frame(Time now, uint64_t connection, wire::Body body);
  void tick(Time now);
  std::vector<Outgoing> takeOutgoing() { return std::exchange(outgoing_, {}); }

  [[nodiscard]] size_t readyNodes() const;
  [[nodiscard]] size_t publishedObjects() const { return published_.size(); }

  /// Moves an object from the memory of its storage nodes to their SSDs.
  void demote(const std::string& key);
  [[nodiscard]] bool isOnSsd(const std::string& key) const;

  /// Has each storage node copy what it has not from one that has it.
  void spreadAll();

  /// From now on it says of no node that it is transient.
  void callAllLasting() { callsAllLasting_ = true; }

 private:
  using Copies = std::map<uint64_t, DirectoryRecord>;  // by connection of the node
  struct Node {
    std::string id;
    uint64_t incarnation = 0;
    NodeInfo info;
    bool caughtUp = false;
    bool fenced = false;
    uint64_t fenceRequest = 0;
    std::map<std::pair<uint16_t, uint32_t>, DirectoryRecord> slots;
  };
  struct GrantGiven {
    ObjectId object;
    Time deadline = 0;
  };
  struct PendingPublish {
    uint64_t connection = 0;
    PublishRequest request;
    Time deadline = 0;
  };
  struct PendingRemove {
    uint64_t connection = 0;
    client::KeysReply reply;
    bool all = false;
    uint64_t removed = 0;
    std::map<uint64_t, uint64_t> acksMissing;  // free request -> connection of the node
  };

  // connections and nodes
  void greet(uint64_t connection, wire::Body body);
  void nodeFrame(uint64_t connection, Node& node, wire::Body body);
  void apply(uint64_t connection, Node& node, const DirectoryRecords& records);
  void forget(uint64_t connection, const DirectoryRecord& record);
  void fenceNode(uint64_t connection, Node& node);
  /// Of the node, under this authority.
  [[nodiscard]] GrantSecret secretOf(const Node& node) const;
  void raiseEpoch(uint64_t above);
  void publishHighest(const DirectoryRecord& record);
  void freeSuperseded(uint64_t connection, const Node& node);
  void freeDemoted(uint64_t connection, const Node& node, const ObjectId& object);
  void fenceAcked(uint64_t connection, Node& node, const Ack& ack);
  void send(uint64_t connection, wire::Bytes frame) { outgoing_.push_back({connection, std::move(frame), false}); }
  void refuse(uint64_t connection, wire::Refused refused);

  // requests of clients
  [[nodiscard]] OwnKeys keysOf(uint64_t connection) const;
  void clientFrame(uint64_t connection, wire::Body body);
  [[nodiscard]] int32_t servingStatus() const;
  void grant(uint64_t connection, const GrantRequest& request);
  [[nodiscard]] client::GrantTarget target(uint64_t at, uint16_t index, const ObjectId& object,
                                           const WantedGrant& wanted) const;
  client::Grant grantOne(const GrantRequest& request, const WantedGrant& wanted, const std::vector<uint64_t>& order);
  void publish(uint64_t connection, PublishRequest request);
  std::optional<int32_t> judgePublish(const PendingPublish& pending, const PublishedObject& object);
  void settlePublishes();
  void lookup(uint64_t connection, const KeysRequest& request);
  void exists(uint64_t connection, const KeysRequest& request);
  void remove(uint64_t connection, const KeysRequest& request);
  void removeAll(uint64_t connection, const KeysRequest& request);
  int32_t removeOne(const std::string& key, bool force, std::map<uint64_t, std::vector<FreedExtent>>& freed);
  void awaitFrees(PendingRemove pending, const std::map<uint64_t, std::vector<FreedExtent>>& freed);
  void commandAcked(uint64_t request);
  void settleRemoves();
  void finishRemove(const PendingRemove& pending);

  [[nodiscard]] Copies copies(const std::string& key) const;
  [[nodiscard]] bool isLeased(const std::string& key) const;
  void lease(const std::string& key) { leasedUntil_[key] = now_ + settings_.objectLeaseMs; }
  std::vector<client::NodeAddress> nodeTable(std::map<uint64_t, uint16_t>& indexOf) const;

  Settings settings_;
  MasterRole role_ = MasterRole::Leader;
  wire::Identity self_;
  Authority authority_;
  std::mt19937_64 random_;
  Time now_ = 0;
  Time lastHeartbeat_ = 0;
  uint64_t lastRequest_ = 0;
  uint64_t lastCounter_ = 0;
  std::vector<Outgoing> outgoing_;
  std::map<uint64_t, Node> nodes_;  // by connection
  uint64_t directories_ = 0;
  bool callsAllLasting_ = false;
  std::set<uint64_t> clients_;  // connections
  std::map<uint64_t, OwnKeys> keys_;
  std::map<ObjectId, Copies> held_;
  std::map<std::string, ObjectId> published_;
  std::map<std::string, GrantGiven> grants_;
  std::map<std::string, Time> leasedUntil_;
  std::vector<PendingPublish> publishes_;
  std::vector<PendingRemove> removes_;
};

}  // namespace kvpool::test
