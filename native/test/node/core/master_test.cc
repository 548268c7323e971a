// SPDX-License-Identifier: Apache-2.0
// The stream to the masters: snapshot, changes in order, acknowledgements behind them, redials, bounds.
#include <gtest/gtest.h>

#include <algorithm>

#include "node/core/core_in_memory.h"
#include "seed.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;
using test::kOther;

TEST(MasterStream, BeginsWithInfoAndSnapshot) {
  CoreInMemory node;
  node.segment.put({3, 7}, "before", "value");
  node.tick(0);
  EXPECT_EQ(node.dials, std::vector<size_t>{0});
  node.core->dialled(node.nowMs, kMaster, 0, "master-0");
  node.act();
  const wire::Hello hello = wire::readHello(node.inbox(kMaster).front());
  EXPECT_EQ(hello.self.role, wire::Role::Node);
  EXPECT_EQ(hello.self.poolId, test::kPool);
  node.inbox(kMaster).clear();
  node.frame(kMaster, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
  EXPECT_EQ(node.types(kMaster), (std::vector<uint16_t>{10, 11, 12, 13}));
  const NodeInfo info = test::readNodeInfo(node.inbox(kMaster)[0]);
  EXPECT_EQ(info.capacityBytes, node.segment.geometry.dataBytes);
  EXPECT_EQ(info.slots, node.segment.geometry.slots);
  EXPECT_EQ(info.highestObject, (ObjectId{3, 7}));
  EXPECT_EQ(info.tcp, "10.0.0.1:50061");
  EXPECT_EQ(info.shm, "boot:/shm.sock");
  const test::Records snapshot = test::readRecords(node.inbox(kMaster)[2]);
  EXPECT_TRUE(snapshot.snapshot);
  EXPECT_EQ(snapshot.records.front().key, "before");
  EXPECT_EQ(snapshot.records.front().payloadCrc, crc32c("value"));
}

TEST(MasterStream, EveryMasterHearsEveryChangeWithItsNumber) {
  CoreInMemory node(2);
  node.connectMaster(kMaster, 0);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  const WriteReply first = node.write(kClient, kLeader, {5, 1}, "one", "1");
  node.connectMaster(kOther, 1);
  node.inbox(kMaster).clear();
  node.inbox(kOther).clear();
  node.write(kClient, kLeader, {5, 2}, "two", "2");
  node.free(kMaster, kLeader, {{first.extent, {5, 1}}, {first.extent, {5, 9}}});
  for (const ConnectionId master : {kMaster, kOther}) {
    const std::vector<test::Records> heard = node.records(master);
    ASSERT_EQ(heard.size(), 2u);
    EXPECT_EQ(heard[0].sequence, 2u);
    EXPECT_EQ(heard[0].records.front().key, "two");
    EXPECT_EQ(heard[1].sequence, 3u);
    ASSERT_EQ(heard[1].records.size(), 1u) << "what was not there is not freed";
    EXPECT_FALSE(heard[1].records.front().committed);
    EXPECT_EQ(heard[1].records.front().extent, first.extent);
    EXPECT_TRUE(heard[1].records.front().key.empty());
  }
  const std::vector<uint16_t> types = node.types(kMaster);
  EXPECT_EQ(types.back(), test::sbe::CommandAck::SBE_TEMPLATE_ID) << "the answer comes behind the records";
}

TEST(MasterStream, TheFenceAnswerStandsBehindEarlierCommits) {
  CoreInMemory node;
  node.connectMaster(kMaster);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  node.inbox(kMaster).clear();
  // Commit and fence before any action is taken: the order must come from the core.
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 0));
  node.core->payloadReceived(kClient, 0, 0);
  wire::Bytes fence;
  test::appendFence(fence, 1, {6, 66}, 0);
  node.core->frame(node.nowMs, kMaster, wire::Body(fence).subspan(wire::kFrameHeaderBytes));
  node.act();
  EXPECT_EQ(node.types(kMaster), (std::vector<uint16_t>{12, 21}));
  EXPECT_EQ(test::readFenceAck(node.inbox(kMaster).back()).sequence, 1u);
}

/// The master's side of the contract: frames applied in their order give the node's directory.
TEST(MasterStream, ASnapshotDuringWritesEndsInTheTruth) {
  const uint64_t seed = test::seed(7);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  CoreInMemory node;
  std::map<ObjectId, ExtentRef> truth;
  for (uint64_t i = 1; i <= 3000; ++i)
    truth[{1, i}] = node.segment.put({1, i}, std::string(300, 'k') + std::to_string(i), "v");
  node.reads = false;  // the snapshot must wait for room, so that changes come in between
  node.connectMaster(kMaster);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  uint64_t counter = 0;
  for (int step = 0; step < 400; ++step) {
    if (dice.oneIn(2)) {
      const WriteReply reply = node.write(kClient, kLeader, {5, ++counter}, "new", "value");
      ASSERT_EQ(reply.status, KV_OK);
      truth[{5, counter}] = reply.extent;
    } else {
      auto victim = truth.lower_bound({1, dice.below(3000)});
      ASSERT_TRUE(node.free(kMaster, kLeader, {{victim->second, victim->first}}).accepted);
      truth.erase(victim);
    }
    if (dice.oneIn(20)) node.core->sent(kMaster, 200'000);
  }
  for (int i = 0; i < 100; ++i) {
    node.core->sent(kMaster, 1'000'000);
    node.act();
  }
  std::map<ObjectId, ExtentRef> view;
  uint64_t sequence = 0;
  bool between = false;
  for (const test::Records& records : node.records(kMaster)) {
    between = between || (records.snapshot && sequence > 0);
    if (!records.snapshot) {
      ASSERT_EQ(records.sequence, sequence + 1) << "a gap";
      sequence += records.records.size();
    }
    for (const test::Record& record : records.records) {
      if (record.committed) {
        view[record.objectId] = record.extent;
      } else {
        view.erase(record.objectId);
      }
    }
  }
  EXPECT_TRUE(between) << "the test must have had changes between pieces of the snapshot";
  EXPECT_EQ(view, truth);
  EXPECT_NO_THROW(node.last(kMaster, test::sbe::SnapshotEnd::SBE_TEMPLATE_ID));
}

TEST(MasterStream, AMasterThatDoesNotReadIsClosedAtTheBound) {
  CoreInMemory node;
  node.reads = false;
  node.connectMaster(kMaster);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  const std::string key(4000, 'k');
  uint64_t counter = 0;
  while (node.closeReasons.empty()) {
    ASSERT_LT(counter, 30000u);
    const WriteReply reply = node.write(kClient, kLeader, {5, ++counter}, key, "");
    ASSERT_EQ(reply.status, KV_OK);
    node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 1, kLeader, {{reply.extent, {5, counter}}}); });
    node.inbox(kMaster).clear();
    node.inbox(kClient).clear();
  }
  EXPECT_NE(node.closeReasons[kMaster].find("64 MiB"), std::string::npos);
  EXPECT_EQ(node.write(kClient, kLeader, {5, ++counter}, "key", "").status, KV_OK) << "clients are served on";
}

TEST(MasterStream, StatsGoOutAndSilenceEndsIt) {
  CoreInMemory node;
  node.connectMaster(kMaster);
  node.inbox(kMaster).clear();
  for (int i = 0; i < 20; ++i) {
    node.tick(NodeCore::kTickMs);
    node.frame(kMaster, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
  }
  EXPECT_EQ(node.types(kMaster).size(), 2u) << "one each 500 ms";
  node.tick(wire::kSilenceMsMax);
  EXPECT_TRUE(node.closeReasons.empty());
  node.tick(1);
  EXPECT_NE(node.closeReasons[kMaster].find("silent"), std::string::npos);
}

TEST(MasterStream, RedialsForEverAndSlower) {
  CoreInMemory node(2);
  node.tick(0);
  ASSERT_EQ(node.dials, (std::vector<size_t>{0, 1}));
  uint64_t waitedMs = 0;
  for (int attempt = 0; attempt < 8; ++attempt) {
    node.dials.clear();
    node.core->dialFailed(node.nowMs, 0, true, "refused");
    waitedMs = 0;
    while (node.dials.empty()) {
      node.tick(10);
      waitedMs += 10;
      ASSERT_LE(waitedMs, MasterLinks::kRedialMsMax + 10);
    }
    EXPECT_EQ(node.dials, std::vector<size_t>{0}) << "the other master is still being dialled";
  }
  EXPECT_GE(waitedMs, MasterLinks::kRedialMsMax / 2);
}

/// A pool names every master it may ever have; most of the names have no address.
TEST(MasterStream, AsksRarelyForNamesThatNeverHadAnAddressWhileAMasterIsThere) {
  CoreInMemory node(2);
  node.connectMaster(kMaster, 0, 7);
  uint64_t longestMs = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    node.dials.clear();
    node.core->nameUnknown(node.nowMs, 1, "no address");
    uint64_t waitedMs = 0;
    while (node.dials.empty()) {
      node.frame(kMaster, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
      node.tick(100);
      waitedMs += 100;
      ASSERT_LE(waitedMs, MasterLinks::kUnknownRedialMsMax + 100);
    }
    longestMs = waitedMs;
  }
  EXPECT_GE(longestMs, MasterLinks::kUnknownRedialMsMax / 2);
  node.core->nameUnknown(node.nowMs, 1, "no address");
  node.dials.clear();
  node.core->closed(node.nowMs, kMaster);
  for (uint64_t waitedMs = 0; waitedMs <= MasterLinks::kRedialMsMax; waitedMs += 100)
    node.tick(100);
  EXPECT_NE(std::find(node.dials.begin(), node.dials.end(), 1u), node.dials.end())
      << "the last master is gone: the other one may have come";
}

TEST(MasterStream, AsksOftenForANameThatHadAnAddressOrWhileNobodyIsThere) {
  for (const bool known : {false, true}) {
    CoreInMemory node(2);
    if (known) {
      node.connectMaster(kMaster, 0, 7);
      node.core->dialFailed(node.nowMs, 1, false, "no answer");
    }
    for (int attempt = 0; attempt < 8; ++attempt) {
      node.dials.clear();
      node.core->nameUnknown(node.nowMs, 1, "no address");
      for (uint64_t waitedMs = 0; waitedMs <= MasterLinks::kRedialMsMax; waitedMs += 100) {
        if (known) node.frame(kMaster, [](wire::Bytes& out) { wire::appendHeartbeat(out); });
        node.tick(100);
      }
      ASSERT_NE(std::find(node.dials.begin(), node.dials.end(), 1u), node.dials.end()) << known << attempt;
    }
  }
}

TEST(MasterStream, RefusalsAndWrongMastersAreClosed) {
  CoreInMemory node(3);
  for (size_t master = 0; master < 3; ++master) {
    node.core->dialled(node.nowMs, 1 + master, master, "master-" + std::to_string(master));
  }
  node.frame(1, [](wire::Bytes& out) {
    wire::appendRefused(out, {wire::Refusal::IdentityMismatch, wire::kWireVersions, "node-0 is connected already"});
  });
  EXPECT_NE(node.closeReasons[1].find("node-0 is connected already"), std::string::npos);
  node.frame(2, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome({8, 8})); });
  EXPECT_NE(node.closeReasons[2].find(toString(PoolId{8, 8})), std::string::npos);
  node.frame(3, [](wire::Bytes& out) { test::appendFence(out, 1, kLeader, 0); });
  EXPECT_TRUE(node.closeReasons.contains(3)) << "a fence before the welcome is not the protocol";
  EXPECT_EQ(node.core->snapshot().seen, Authority{});
}

TEST(MasterStream, ATransientNodeBelongsToThePoolOfItsFirstMaster) {
  CoreInMemory node(2, true);
  node.core->dialled(node.nowMs, kMaster, 0, "master-0");
  node.act();
  EXPECT_TRUE(wire::readHello(node.inbox(kMaster).front()).self.poolId.isAny());
  node.frame(kMaster, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome()); });
  node.core->dialled(node.nowMs, kOther, 1, "master-1");
  node.act();
  EXPECT_EQ(wire::readHello(node.inbox(kOther).front()).self.poolId, test::kPool);
  node.frame(kOther, [](wire::Bytes& out) { wire::appendWelcome(out, test::masterWelcome({8, 8})); });
  EXPECT_TRUE(node.closeReasons.contains(kOther)) << "another pool's master behind one address";
}

TEST(Leaving, IsTheLastThatEveryMasterHearsBehindAllChanges) {
  CoreInMemory node(3, true);
  node.tick(0);
  node.connectMaster(kMaster, 0);
  node.connectMaster(kOther, 1);
  node.fence(kMaster, kLeader);
  node.connectClient(kClient);
  node.write(kClient, kLeader, {5, 1}, "one", "1");
  node.core->leave();
  node.act();
  for (const ConnectionId master : {kMaster, kOther}) {
    const std::vector<uint16_t> heard = node.types(master);
    ASSERT_GE(heard.size(), 2u);
    EXPECT_EQ(heard[heard.size() - 2], test::sbe::DirectoryRecords::SBE_TEMPLATE_ID);
    EXPECT_EQ(heard.back(), test::sbe::NodeLeaves::SBE_TEMPLATE_ID);
    EXPECT_TRUE(node.closeReasons.contains(master)) << "when all of that is sent";
  }
}

TEST(Leaving, IsOverWhenNoMasterIsConnected) {
  CoreInMemory node(3, true);
  node.tick(0);
  node.connectMaster(kMaster, 0);
  node.core->dialled(node.nowMs, kOther, 1, "master-1");  // not welcomed yet
  node.core->leave();
  node.act();
  EXPECT_FALSE(node.core->hasLeft());
  node.core->closed(node.nowMs, kMaster);
  node.core->closed(node.nowMs, kOther);
  node.act();
  EXPECT_TRUE(node.core->hasLeft());
  node.dials.clear();
  node.tick(60'000);
  EXPECT_TRUE(node.dials.empty()) << "nobody is dialled any more";
  node.core->dialled(node.nowMs, 3, 2, "master-2");  // a dial that was under way
  node.act();
  EXPECT_TRUE(node.inbox(3).empty());
  EXPECT_TRUE(node.closeReasons.contains(3));
}

}  // namespace
}  // namespace kvpool::node
