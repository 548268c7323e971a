// SPDX-License-Identifier: Apache-2.0
// Removal that holds, as masters command it: purges, tombstones, and what they do to writes.
#include <gtest/gtest.h>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;
using test::kOther;

class RemovalTest : public ::testing::Test {
 protected:
  RemovalTest() : node(2) {
    node.connectMaster(kMaster, 0);
    node.connectMaster(kOther, 1);
    node.fence(kMaster, kLeader);
    node.connectClient(kClient);
    forget();
  }
  void forget() {
    node.inbox(kMaster).clear();
    node.inbox(kOther).clear();
  }
  CommandAck purge(const ObjectId& id, const Authority& authority = kLeader) {
    return node.command(kMaster, [&](wire::Bytes& out) { test::appendPurge(out, {7, authority, id}); });
  }
  CommandAck keepTombstones(const std::vector<store::Tombstone>& tombstones, const Authority& authority = kLeader) {
    return node.command(kMaster, [&](wire::Bytes& out) {
      test::appendKeepTombstones(out, {8, authority, tombstones});
    });
  }
  CoreInMemory node;
};

TEST_F(RemovalTest, APurgeFreesWhatIsLowerAndAnswersBehindTheRecords) {
  node.write(kClient, kLeader, {5, 1}, "old", "value");
  node.write(kClient, kLeader, {5, 9}, "new", "value");
  keepTombstones({{{5, 2}, "kept"}, {{5, 10}, "later"}});
  forget();
  const CommandAck ack = purge({5, 9});
  EXPECT_TRUE(ack.accepted);
  EXPECT_EQ(ack.status, KV_OK);
  EXPECT_EQ(ack.requestId, 7u);
  EXPECT_EQ(node.types(kMaster), (std::vector<uint16_t>{12, 23}));
  for (const ConnectionId master : {kMaster, kOther}) {
    const std::vector<test::Records> records = node.records(master);
    ASSERT_EQ(records.size(), 1u);
    ASSERT_EQ(records.front().records.size(), 2u);
    EXPECT_EQ(records.front().records[0].objectId, (ObjectId{5, 1}));
    EXPECT_EQ(records.front().records[1].objectId, (ObjectId{5, 2}));
    EXPECT_FALSE(records.front().records[0].committed);
  }
  EXPECT_EQ(node.core->snapshot().objects, 1u);
  EXPECT_EQ(node.core->snapshot().tombstones, 1u);
  EXPECT_EQ(node.core->snapshot().idsHash, idHash({5, 9}));
}

TEST_F(RemovalTest, WritesOfPurgedIdsAreRefusedAtTheirStartAndAtTheirEnd) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "slow", 5));
  EXPECT_EQ(purge({5, 9}).status, KV_OK) << "a running write holds up no purge";
  EXPECT_EQ(node.endWrite(kClient, "value").status, KV_STALE_EPOCH);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 8}, "late", "value").status, KV_STALE_EPOCH);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 9}, "new", "value").status, KV_OK);
  EXPECT_EQ(node.core->snapshot().usedBytes, 128u);
}

TEST_F(RemovalTest, TombstonesStopWritesOfTheirKeyAtTheirEndToo) {
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 5));
  EXPECT_EQ(keepTombstones({{{5, 1}, "key"}}).status, KV_OK);
  EXPECT_EQ(node.endWrite(kClient, "value").status, KV_STALE_EPOCH);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 2}, "key", "value").status, KV_OK);
}

TEST_F(RemovalTest, APurgeOfMuchGoesOnInSlicesWhileOthersAreServed) {
  for (uint64_t i = 1; i <= 3 * PurgeSweep::kFreesPerSlice; ++i)
    node.segment.put({4, i}, "key-" + std::to_string(i), "");
  wire::Bytes out;
  test::appendPurge(out, {7, kLeader, {5, 0}});
  node.core->frame(node.nowMs, kMaster, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  for (uint64_t slice = 1; slice <= 3; ++slice) {
    EXPECT_TRUE(node.core->busy());
    node.core->endTurn();
    EXPECT_EQ(node.core->snapshot().objects, (3 - slice) * PurgeSweep::kFreesPerSlice);
  }
  node.act();
  EXPECT_FALSE(node.core->busy());
  EXPECT_EQ(node.types(kMaster).back(), 23u);
}

TEST_F(RemovalTest, APurgeWaitsForMastersThatDoNotReadYet) {
  for (uint64_t i = 1; i <= 2000; ++i)
    node.segment.put({4, i}, "key-" + std::to_string(i), "");
  node.reads = false;
  const auto purged = [&] { return node.types(kMaster).back() == 23u; };
  // Leave more unread than slices may add to: 5 MiB of records of long keys.
  const std::string key(4000, 'k');
  for (uint64_t i = 1; i <= 1300; ++i)
    ASSERT_EQ(node.write(kClient, kLeader, {5, i}, key, "").status, KV_OK);
  node.frame(kMaster, [](wire::Bytes& out) { test::appendPurge(out, {7, kLeader, {5, 0}}); });
  EXPECT_FALSE(purged());
  EXPECT_FALSE(node.core->busy()) << "the loop must not spin meanwhile";
  EXPECT_EQ(node.core->snapshot().objects, 3300u);
  for (const ConnectionId master : {kMaster, kOther})
    node.core->sent(master, uint64_t{60} << 20);
  node.act();
  EXPECT_TRUE(purged());
  EXPECT_EQ(node.core->snapshot().objects, 1300u);
}

TEST_F(RemovalTest, AFenceBringsThePurgeIdAndIsAnsweredWhenItIsDone) {
  for (uint64_t i = 1; i <= 2000; ++i)
    node.segment.put({4, i}, "key-" + std::to_string(i), "");
  node.frame(kOther, [](wire::Bytes& out) { test::appendFence(out, 3, {6, 66}, 1000, {6, 0}); });
  EXPECT_EQ(node.types(kOther), (std::vector<uint16_t>{12, 12, 21})) << "records of two slices, then the answer";
  const FenceAck ack = test::readFenceAck(node.inbox(kOther).back());
  EXPECT_TRUE(ack.accepted);
  EXPECT_EQ(ack.sequence, 2000u);
  EXPECT_EQ(ack.purgeId, (ObjectId{6, 0}));
  EXPECT_EQ(node.core->snapshot().objects, 0u);
}

TEST_F(RemovalTest, AFenceIsAnsweredWithThePurgeOfTheLeaderBefore) {
  purge({5, 9});
  node.frame(kOther, [](wire::Bytes& out) { test::appendFence(out, 3, {6, 66}, 1000, {5, 2}); });
  EXPECT_EQ(test::readFenceAck(node.inbox(kOther).back()).purgeId, (ObjectId{5, 9}));
}

TEST_F(RemovalTest, AFenceThatWaitedWhileAnotherLeaderCameIsRefused) {
  for (uint64_t i = 1; i <= 2000; ++i)
    node.segment.put({4, i}, "key-" + std::to_string(i), "");
  const auto feed = [&](ConnectionId master, const Authority& authority) {
    wire::Bytes out;
    test::appendFence(out, authority.epoch, authority, 1000, {6, 0});
    node.core->frame(node.nowMs, master, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  };
  feed(kMaster, {6, 66});
  feed(kOther, {7, 77});
  node.act();
  EXPECT_FALSE(test::readFenceAck(node.inbox(kMaster).back()).accepted);
  EXPECT_EQ(test::readFenceAck(node.inbox(kMaster).back()).seen, (Authority{7, 77}));
  EXPECT_TRUE(test::readFenceAck(node.inbox(kOther).back()).accepted);
}

TEST_F(RemovalTest, OnlyTheLeaderPurgesAndKeepsTombstones) {
  node.write(kClient, kLeader, {5, 1}, "key", "value");
  for (const Authority& other : {Authority{4, 55}, Authority{5, 56}, Authority{6, 55}}) {
    EXPECT_FALSE(purge({9, 9}, other).accepted);
    EXPECT_FALSE(keepTombstones({{{9, 9}, "key"}}, other).accepted);
  }
  EXPECT_EQ(node.core->snapshot().objects, 1u);
  EXPECT_EQ(node.core->snapshot().tombstones, 0u);
  EXPECT_EQ(node.segment.directory->purgeId(), ObjectId{});
  EXPECT_EQ(node.core->snapshot().counters.staleRefusals, 6u);
}

TEST_F(RemovalTest, ThePurgeIdOnlyGrows) {
  purge({5, 9});
  EXPECT_EQ(purge({5, 3}).status, KV_OK) << "done already";
  node.fence(kMaster, {6, 66}, 1000);
  EXPECT_EQ(node.segment.directory->purgeId(), (ObjectId{5, 9}));
}

TEST_F(RemovalTest, TombstonesAreRecordsOfTheStreamAndOfSnapshots) {
  const CommandAck ack = keepTombstones({{{5, 3}, "a"}, {{5, 4}, "b"}});
  EXPECT_TRUE(ack.accepted);
  EXPECT_EQ(ack.requestId, 8u);
  EXPECT_EQ(node.types(kOther), std::vector<uint16_t>{12});
  keepTombstones({{{5, 6}, "a"}});
  const std::vector<test::Records> heard = node.records(kOther);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_TRUE(heard[0].records.at(0).tombstone);
  EXPECT_EQ(heard[0].records.at(0).key, "a");
  EXPECT_EQ(heard[0].records.at(0).objectId, (ObjectId{5, 3}));
  EXPECT_TRUE(heard[1].records.at(0).tombstone);
  EXPECT_EQ(heard[1].records.at(1).objectId, (ObjectId{5, 3})) << "the older one is lifted behind the newer";
  EXPECT_FALSE(heard[1].records.at(1).tombstone);

  forget();
  node.core->closed(node.nowMs, kOther);
  node.connectMaster(4, 1);
  std::vector<ObjectId> snapshot;
  for (const test::Records& records : node.records(4)) {
    EXPECT_TRUE(records.snapshot);
    for (const test::Record& record : records.records) {
      EXPECT_TRUE(record.tombstone);
      snapshot.push_back(record.objectId);
    }
  }
  EXPECT_EQ(snapshot.size(), 2u);

  const test::Record& lifted = heard[1].records.at(0);
  EXPECT_TRUE(node.free(kMaster, kLeader, {{lifted.extent, lifted.objectId}}).accepted);
  EXPECT_EQ(node.core->snapshot().tombstones, 1u);
}

TEST_F(RemovalTest, TombstonesThatDoNotFitSaySo) {
  EXPECT_EQ(keepTombstones({{{5, 1}, std::string(5000, 'k')}}).status, KV_INVALID_KEY);
  const std::vector<store::Tombstone> many(kTombstonesMax + 1, {{5, 1}, "key"});
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendKeepTombstones(out, {8, kLeader, many}); });
  EXPECT_TRUE(node.closeReasons.contains(kMaster)) << "more than a message may hold is not the protocol";
}

TEST_F(RemovalTest, RetentionGoesWithTheRecords) {
  const Retention retention{kPinSoft, 60'000, 42};
  node.frame(kClient, [&](wire::Bytes& out) {
    test::appendWrite(out, {1, kLeader, {5, 1}, 0, false, 0, 0, "key", retention});
  });
  node.endWrite(kClient, "");
  EXPECT_EQ(node.records(kMaster).at(0).records.at(0).retention, retention);
  node.core->closed(node.nowMs, kOther);
  node.connectMaster(4, 1);
  EXPECT_EQ(node.records(4).at(0).records.at(0).retention, retention);
}

TEST(NodeTellsItself, WhatItRestoredAndWhatItHoldsNow) {
  CoreInMemory node;
  node.segment.put({4, 1}, "key", "value");
  node.segment.put({4, 2}, "torn", "value");
  node.segment.memory[store::recordOffset(1) + 20] ^= 1;
  node.config.zone = "zone-a";
  node.restart();
  node.connectMaster(kMaster);
  node.tick(0);
  const NodeInfo info = test::readNodeInfo(node.last(kMaster, test::sbe::NodeInfo::SBE_TEMPLATE_ID));
  EXPECT_EQ(info.zone, "zone-a");
  EXPECT_EQ(info.restored, 1u);
  EXPECT_EQ(info.restoredHash, idHash({4, 1}));
  EXPECT_EQ(info.dropped, 1u);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  node.write(kClient, kLeader, {5, 1}, "more", "");
  node.tick(500);
  const NodeStatsMessage stats = test::readNodeStats(node.last(kMaster, test::sbe::NodeStats::SBE_TEMPLATE_ID));
  EXPECT_EQ(stats.objects, 2u);
  EXPECT_EQ(stats.idsHash, idHash({4, 1}) + idHash({5, 1}));
}

}  // namespace
}  // namespace kvpool::node
