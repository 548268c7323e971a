// SPDX-License-Identifier: Apache-2.0
// Payloads whose bytes changed under the node are found, by the first reader after a restart or by the scrub, and go.
#include <gtest/gtest.h>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kMaster;

class ScrubTest : public ::testing::Test {
 protected:
  /// An object of an earlier life.
  ExtentRef restored(const ObjectId& id, const std::string& key, const std::string& value) {
    const ExtentRef extent = node.segment.put(id, key, value);
    node.restart();
    return extent;
  }
  void connect() {
    node.connectMaster(kMaster);
    node.connectClient(kClient);
    node.inbox(kMaster).clear();
  }
  void damage(const ExtentRef& extent) {
    const store::Slot& slot = node.segment.directory->slot(extent.slot);
    node.segment.memory[slot.payloadOffset() + slot.payloadLength / 2] ^= 1;
  }
  void damageKey(const ExtentRef& extent) {
    node.segment.memory[node.segment.directory->slot(extent.slot).extent.offset] ^= 1;
  }
  void read(uint64_t request, const ExtentRef& extent, const ObjectId& id, uint64_t length) {
    node.frame(kClient, [&](wire::Bytes& out) { test::appendRead(out, {request, extent, id, length}); });
  }
  std::vector<std::pair<uint64_t, int32_t>> replies() {
    std::vector<std::pair<uint64_t, int32_t>> out;
    for (const wire::Bytes& body : node.inbox(kClient)) {
      const ReadReply reply = readReadReply(body);
      out.emplace_back(reply.requestId, reply.status);
    }
    return out;
  }
  void expectGone(const ExtentRef& extent, const ObjectId& id) {
    const std::vector<test::Records> records = node.records(kMaster);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_FALSE(records[0].records.at(0).committed);
    EXPECT_EQ(records[0].records.at(0).extent, extent);
    EXPECT_EQ(node.segment.directory->find(extent, id), nullptr);
    EXPECT_EQ(node.core->snapshot().counters.damaged, 1u);
    EXPECT_EQ(node.core->snapshot().usedBytes, 0u);
  }
  CoreInMemory node;
};

TEST_F(ScrubTest, TheFirstReaderAfterARestartGetsNoDamagedBytes) {
  const ExtentRef extent = restored({1, 1}, "key", "value");
  connect();
  damage(extent);
  read(1, extent, {1, 1}, 5);
  EXPECT_EQ(replies(), (std::vector<std::pair<uint64_t, int32_t>>{{1, KV_CHECKSUM}}));
  EXPECT_TRUE(node.others.empty()) << "no payload was sent";
  expectGone(extent, {1, 1});
}

TEST_F(ScrubTest, WhatIsIntactIsCheckedOnceAndThenSent) {
  const ExtentRef extent = restored({1, 1}, "key", "value");
  connect();
  EXPECT_FALSE(node.segment.directory->slot(extent.slot).verified);
  read(1, extent, {1, 1}, 5);
  EXPECT_EQ(node.others.size(), 1u);
  EXPECT_TRUE(node.segment.directory->slot(extent.slot).verified);
  // From now on the reader's own checksum stands for it.
  damage(extent);
  read(2, extent, {1, 1}, 5);
  EXPECT_EQ(node.others.size(), 2u);
}

TEST_F(ScrubTest, LargePayloadsAreCheckedInPiecesAndReadsStayInOrder) {
  const std::string large(3 * ClientSessions::kCheckBytes + 5, 'l');
  const ExtentRef first = restored({1, 1}, "large", large);
  const ExtentRef second = node.segment.put({1, 2}, "small", "value");
  connect();
  const auto ask = [&](uint64_t request, const ExtentRef& extent, const ObjectId& id, uint64_t length) {
    wire::Bytes out;
    test::appendRead(out, {request, extent, id, length});
    node.core->frame(node.nowMs, kClient, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  };
  ask(1, first, {1, 1}, large.size());
  ask(2, second, {1, 2}, 5);
  for (int piece = 0; piece < 3; ++piece) {
    EXPECT_TRUE(node.core->busy());
    node.core->endTurn();
    EXPECT_TRUE(node.core->takeActions().empty());
  }
  node.act();
  EXPECT_FALSE(node.core->busy());
  EXPECT_EQ(replies(), (std::vector<std::pair<uint64_t, int32_t>>{{1, KV_OK}, {2, KV_OK}}));
}

TEST_F(ScrubTest, AnObjectFreedWhileItIsCheckedIsAMiss) {
  const std::string large(3 * ClientSessions::kCheckBytes, 'l');
  const ExtentRef extent = restored({1, 1}, "large", large);
  connect();
  wire::Bytes out;
  test::appendRead(out, {1, extent, {1, 1}, large.size()});
  node.core->frame(node.nowMs, kClient, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  node.core->endTurn();
  node.segment.directory->free(extent, {1, 1});
  node.act();
  EXPECT_EQ(replies(), (std::vector<std::pair<uint64_t, int32_t>>{{1, KV_NOT_FOUND}}));
}

TEST_F(ScrubTest, AReaderThatLeavesEndsItsCheck) {
  const std::string large(3 * ClientSessions::kCheckBytes, 'l');
  const ExtentRef extent = restored({1, 1}, "large", large);
  connect();
  wire::Bytes out;
  test::appendRead(out, {1, extent, {1, 1}, large.size()});
  node.core->frame(node.nowMs, kClient, wire::Body(out).subspan(wire::kFrameHeaderBytes));
  node.core->closed(node.nowMs, kClient);
  EXPECT_FALSE(node.core->busy());
}

TEST_F(ScrubTest, FindsDamageThatNobodyReads) {
  const ExtentRef extent = restored({1, 1}, "key", "value");
  connect();
  damage(extent);
  node.tick(NodeCore::kTickMs);
  expectGone(extent, {1, 1});
  EXPECT_EQ(node.core->snapshot().counters.scrubRounds, 1u);
}

TEST_F(ScrubTest, FindsSumsThatChanged) {
  const std::string value(3 * kSumBlockBytes, 'v');
  const ExtentRef extent = restored({1, 1}, "key", value);
  connect();
  const store::Slot& slot = node.segment.directory->slot(extent.slot);
  node.segment.memory[slot.payloadOffset() + value.size() + 2 * kSumBytes] ^= 1;
  node.tick(NodeCore::kTickMs);
  expectGone(extent, {1, 1});
}

TEST_F(ScrubTest, AnObjectWhoseKeyChangedIsShownToNoMaster) {
  const ExtentRef extent = restored({1, 1}, "key", "value");
  damageKey(extent);
  node.connectMaster(kMaster);
  expectGone(extent, {1, 1});
  const wire::Bytes end = node.last(kMaster, test::sbe::SnapshotEnd::SBE_TEMPLATE_ID);
  EXPECT_EQ(wire::Reader<test::sbe::SnapshotEnd>(end)->sequence() + 1, node.records(kMaster).at(0).sequence)
      << "the end names the change before: what is dropped comes behind it";
}

TEST_F(ScrubTest, FindsKeysThatChanged) {
  const ExtentRef extent = restored({1, 1}, "key", "value");
  connect();
  damageKey(extent);
  node.tick(NodeCore::kTickMs);
  expectGone(extent, {1, 1});
}

TEST_F(ScrubTest, KeepsToItsRate) {
  const std::string value(1'000'000, 'v');
  for (uint64_t i = 1; i <= 10; ++i)
    node.segment.put({1, i}, "key-" + std::to_string(i), value);
  node.config.scrubBytesPerSecond = 2'000'000;
  node.restart();
  node.core->tick(node.nowMs);
  const uint64_t atFirst = node.core->snapshot().counters.scrubbedBytes;
  EXPECT_LE(atFirst, 2'000'000 * Scrub::kElapsedMsMax / 1000) << "there is no past to catch up with";
  for (int i = 0; i < 20; ++i)
    node.tick(NodeCore::kTickMs);
  EXPECT_EQ(node.core->snapshot().counters.scrubbedBytes - atFirst, 2'000'000u) << "one second";
  EXPECT_EQ(node.core->snapshot().counters.scrubRounds, 0u);
  for (int i = 0; i < 100; ++i)
    node.tick(NodeCore::kTickMs);
  EXPECT_EQ(node.core->snapshot().counters.scrubRounds, 1u);
  EXPECT_EQ(node.core->snapshot().counters.scrubbedBytes, 10'000'000u) << "and then it rests";
  for (uint64_t waited = 0; waited < Scrub::kRoundMs; waited += NodeCore::kTickMs)
    node.tick(NodeCore::kTickMs);
  EXPECT_GT(node.core->snapshot().counters.scrubbedBytes, 10'000'000u) << "a round a minute";
  EXPECT_EQ(node.core->snapshot().counters.damaged, 0u);
}

TEST_F(ScrubTest, GivesWayToTransfersButNotForEver) {
  const std::string value(Scrub::kLoadBytes + 1, 'v');
  const ExtentRef extent = restored({1, 1}, "key", value);
  connect();
  read(1, extent, {1, 1}, value.size());
  const auto scrubbed = [&] { return node.core->snapshot().counters.scrubbedBytes; };
  node.tick(NodeCore::kTickMs);
  EXPECT_EQ(scrubbed(), 0u) << "a read of more than a tick's load has just begun";
  for (uint32_t i = 1; i < Scrub::kTicksUnderLoad; ++i) {
    EXPECT_EQ(scrubbed(), 0u);
    read(i, extent, {1, 1}, value.size());
    node.tick(NodeCore::kTickMs);
  }
  EXPECT_GT(scrubbed(), 0u);
}

}  // namespace
}  // namespace kvpool::node
