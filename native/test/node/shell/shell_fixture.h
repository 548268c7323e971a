// SPDX-License-Identifier: Apache-2.0
// A whole node behind real sockets: a master and clients made of a few lines, on loopback and the unix socket.
#pragma once

#include <thread>

#include "node/shell/node.h"
#include "peer.h"
#include "peer_messages.h"
#include "temporary_directory.h"

namespace kvpool::node {

using test::kPool;
using test::Peer;

/// Listens as a master would and keeps the connection of the node that dialled.
class FakeMaster {
 public:
  FakeMaster() : listener_(std::move(net::listenTcp("127.0.0.1", 0).value())) {}

  [[nodiscard]] uint16_t port() const { return net::boundPort(listener_.get()); }

  /// Waits for the node, answers its Hello and reads up to the end of its snapshot.
  Peer accept() {
    Peer::wait(listener_.get(), POLLIN);
    net::SocketAddress address;
    Peer peer(std::move(net::acceptOne(listener_.get(), &address).value()));
    hello_ = wire::readHello(*peer.receive());
    peer.sendFrames([](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
    info_ = test::readNodeInfo(*peer.receive());
    snapshot_.clear();
    for (;;) {
      const wire::Bytes body = *peer.receive();
      const uint16_t type = wire::templateOf(body);
      if (type == test::sbe::SnapshotEnd::SBE_TEMPLATE_ID) return peer;
      if (type != test::sbe::DirectoryRecords::SBE_TEMPLATE_ID) continue;
      const test::Records records = test::readRecords(body);
      snapshot_.insert(snapshot_.end(), records.records.begin(), records.records.end());
    }
  }

  static wire::Bytes next(Peer& peer, uint16_t type) {
    for (;;) {
      const std::optional<wire::Bytes> body = peer.receive();
      if (!body) {
        ADD_FAILURE() << "the node closed the connection";
        return {};
      }
      if (wire::templateOf(*body) == type) return *body;
    }
  }

  static void fence(Peer& peer, const Authority& authority) {
    peer.sendFrames([&](wire::Bytes& out) { test::appendFence(out, 1, authority, 10000); });
    const FenceAck ack = test::readFenceAck(next(peer, test::sbe::FenceAck::SBE_TEMPLATE_ID));
    ASSERT_TRUE(ack.accepted);
    ASSERT_EQ(ack.seen, authority);
  }

  wire::Hello hello_;
  NodeInfo info_;
  std::vector<test::Record> snapshot_;

 private:
  Fd listener_;
};

class ShellTest : public ::testing::Test {
 protected:
  static constexpr Authority kLeader{3, 33};

  NodeSettings settings(bool transient = false) {
    NodeSettings settings;
    if (!transient) settings.poolId = kPool;
    settings.nodeId = "node-0";
    settings.masters = {{"127.0.0.1", master_.port()}};
    settings.listenHost = "127.0.0.1";
    settings.advertiseHost = "127.0.0.1";
    settings.dataDir = transient ? "" : directory_.path();
    settings.segmentBytes = store::kSegmentBytesMin;
    settings.shm = !transient;
    return settings;
  }

  std::unique_ptr<Node> start(const NodeSettings& settings) {
    Result<std::unique_ptr<Node>> node = Node::start(settings);
    EXPECT_TRUE(node.ok()) << node.status().text();
    return node.ok() ? std::move(node.value()) : nullptr;
  }

  static Peer greeted(Peer peer) {
    peer.sendFrames([](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
    const std::optional<wire::Bytes> body = peer.receive();
    EXPECT_TRUE(body && wire::templateOf(*body) == 2) << "no Welcome";
    return peer;
  }

  static WriteReply put(Peer& peer, uint64_t counter, std::string_view key, std::string_view value,
                        const Authority& authority = kLeader) {
    peer.sendFrames([&](wire::Bytes& out) {
      test::appendWrite(out, {counter, authority, {authority.epoch, counter}, value.size(), false, 0, 0, key});
    });
    peer.sendPayload(value);
    return test::readWriteReply(*peer.receive());
  }

  static std::optional<std::string> get(Peer& peer, const ExtentRef& extent, const ObjectId& id, uint64_t length) {
    peer.sendFrames([&](wire::Bytes& out) { test::appendRead(out, {5, extent, id, length}); });
    const test::ReadReply reply = test::readReadReply(*peer.receive());
    if (reply.status != KV_OK) return std::nullopt;
    auto [payload, right] = peer.receivePayload(reply.payloadLength);
    EXPECT_TRUE(right);
    return payload;
  }

  /// Waits until the node has seen to something on its own time.
  template <typename Condition>
  static void eventually(Condition condition) {
    for (int i = 0; i < test::kWaitMs / 10 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(condition());
  }

  test::TemporaryDirectory directory_;
  FakeMaster master_;
};

}  // namespace kvpool::node
