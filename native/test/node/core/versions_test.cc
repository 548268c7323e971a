// SPDX-License-Identifier: Apache-2.0
// The versions a pool speaks and writes: kept by the node, told to masters, raised by a leader, asked of clients.
#include <gtest/gtest.h>

#include "dev_kvpool_wire/Welcome.h"
#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;

constexpr ConnectionId kOldClient = 4;
constexpr wire::ActiveVersions kFirst{1, 1};
constexpr wire::ActiveVersions kSecond{2, 2};

class VersionsTest : public ::testing::Test {
 protected:
  /// A node of a build that knows both.
  VersionsTest() {
    node.config.self.wire = {1, 2};
    node.config.self.layout = {1, 2};
    restart();
  }
  void restart() {
    node.restart();
    node.connectMaster(kMaster);
    node.fence(kMaster, kLeader);
  }
  CommandAck activate(const wire::ActiveVersions& versions, const Authority& authority = kLeader) {
    return node.command(kMaster, [&](wire::Bytes& out) { test::appendActivate(out, {7, authority, versions}); });
  }
  void connect(ConnectionId id, bool local, const wire::VersionRange& wire, const wire::VersionRange& layout) {
    node.core->accepted(node.nowMs, id, local, "client");
    node.frame(id, [&](wire::Bytes& out) {
      wire::Hello hello = test::clientHello(CoreInMemory::kIncarnation);
      hello.self.wire = wire;
      hello.self.layout = layout;
      wire::appendHello(out, hello);
    });
  }
  uint16_t chosen(ConnectionId id) {
    return wire::readWelcome(node.last(id, test::sbe::Welcome::SBE_TEMPLATE_ID)).wireChosen;
  }
  wire::ActiveVersions told() {
    return test::readNodeInfo(node.last(kMaster, test::sbe::NodeInfo::SBE_TEMPLATE_ID)).active;
  }
  CoreInMemory node;
};

TEST_F(VersionsTest, ARaiseOutlivesTheProcessAndIsTold) {
  EXPECT_EQ(told(), kFirst);
  const CommandAck ack = activate(kSecond);
  EXPECT_TRUE(ack.accepted);
  EXPECT_EQ(ack.status, KV_OK);
  node.tick(1000);
  EXPECT_EQ(test::readNodeStats(node.last(kMaster, test::sbe::NodeStats::SBE_TEMPLATE_ID)).active, kSecond);
  restart();
  EXPECT_EQ(told(), kSecond);
  EXPECT_EQ(activate(kFirst).status, KV_OK);
  EXPECT_EQ(node.segment.state->active(), kSecond) << "nothing lowers it";
}

TEST_F(VersionsTest, WhatTheBuildDoesNotKnowIsRefusedWhole) {
  for (const wire::ActiveVersions& beyond : {wire::ActiveVersions{2, 3}, wire::ActiveVersions{3, 2},
                                             wire::ActiveVersions{0, 2}, wire::ActiveVersions{2, 0}}) {
    const CommandAck ack = activate(beyond);
    EXPECT_TRUE(ack.accepted);
    EXPECT_EQ(ack.status, KV_VERSION_MISMATCH) << beyond.wire << " " << beyond.layout;
    EXPECT_EQ(node.segment.state->active(), kFirst);
  }
}

TEST_F(VersionsTest, OnlyTheLeaderItObeysRaises) {
  const CommandAck stale = activate(kSecond, {4, 44});
  EXPECT_FALSE(stale.accepted);
  EXPECT_EQ(stale.status, KV_STALE_EPOCH);
  EXPECT_FALSE(activate(kSecond, {6, 66}).accepted) << "not fenced";
  EXPECT_EQ(node.segment.state->active(), kFirst);
}

TEST_F(VersionsTest, ObjectsPutBeforeAndAfterAreRestored) {
  node.connectClient(kClient);
  node.write(kClient, kLeader, {5, 1}, "before", "value");
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 2}, "during", 5));
  EXPECT_EQ(activate({1, 2}).status, KV_OK);
  // beginWrite's payload is still wanted: the raise touches no transfer.
  EXPECT_EQ(node.endWrite(kClient, "value").status, KV_OK);
  node.write(kClient, kLeader, {5, 3}, "after", "value");
  const store::Recovery recovery = node.restart();
  EXPECT_EQ(recovery.restored, 3u);
  EXPECT_EQ(recovery.dropped(), 0u);
}

TEST_F(VersionsTest, ClientsSpeakTheActiveVersion) {
  connect(kClient, false, {1, 2}, {1, 2});
  EXPECT_EQ(chosen(kClient), 1);
  activate(kSecond);
  connect(kOldClient, false, {1, 2}, {1, 2});
  EXPECT_EQ(chosen(kOldClient), 2);
}

TEST_F(VersionsTest, ClientsThatDoNotKnowWhatIsRaisedAreClosed) {
  constexpr ConnectionId kReadsFile = 5;
  constexpr ConnectionId kByTcp = 6;
  constexpr ConnectionId kKnowsBoth = 7;
  connect(kReadsFile, true, {1, 2}, {1, 1});
  connect(kByTcp, false, {1, 2}, {1, 1});
  connect(kKnowsBoth, true, {1, 2}, {1, 2});
  activate({1, 2});
  node.tick(NodeCore::kTickMs);
  EXPECT_TRUE(node.closeReasons.contains(kReadsFile)) << "it would miss every new record";
  EXPECT_FALSE(node.closeReasons.contains(kByTcp)) << "the layout is nothing to it";
  EXPECT_FALSE(node.closeReasons.contains(kKnowsBoth));
  connect(kOldClient, false, {1, 1}, {1, 1});
  activate(kSecond);
  node.tick(NodeCore::kTickMs);
  EXPECT_TRUE(node.closeReasons.contains(kOldClient));
  EXPECT_FALSE(node.closeReasons.contains(kByTcp));
}

}  // namespace
}  // namespace kvpool::node
