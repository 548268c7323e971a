// SPDX-License-Identifier: Apache-2.0
// A node obeys only the highest authority it has seen, and remembers it.
#include <gtest/gtest.h>

#include <functional>

#include "node/core/core_in_memory.h"

namespace kvpool::node {
namespace {

using test::CoreInMemory;
using test::kClient;
using test::kLeader;
using test::kMaster;
using test::kOther;

class AuthorityTest : public ::testing::Test {
 protected:
  AuthorityTest() : node(2) {
    node.connectMaster(kMaster, 0);
    node.connectMaster(kOther, 1);
    node.connectClient(kClient);
  }
  CoreInMemory node;
};

TEST_F(AuthorityTest, NobodyWritesBeforeTheFirstFence) {
  for (const Authority& authority : {Authority{}, Authority{0, 7}, kLeader}) {
    EXPECT_EQ(node.write(kClient, authority, {5, 1}, "key", "value").status, KV_NOT_FENCED);
  }
  EXPECT_FALSE(node.fence(kMaster, {0, 0}).accepted) << "epoch 0 is nobody's";
  EXPECT_FALSE(node.core->snapshot().fenced);
}

TEST_F(AuthorityTest, TheHighestEpochWinsAndOfAnEpochTheFirstHolder) {
  EXPECT_TRUE(node.fence(kMaster, kLeader).accepted);
  EXPECT_TRUE(node.fence(kMaster, kLeader).accepted) << "asking again changes nothing";
  const FenceAck other = node.fence(kOther, {5, 56});
  EXPECT_FALSE(other.accepted);
  EXPECT_EQ(other.seen, kLeader);
  EXPECT_EQ(other.incarnation, CoreInMemory::kIncarnation);
  EXPECT_FALSE(node.fence(kOther, {4, 99}).accepted);
  EXPECT_TRUE(node.fence(kOther, {6, 1}).accepted);
  EXPECT_FALSE(node.fence(kMaster, kLeader).accepted);
  EXPECT_EQ(node.core->snapshot().seen, (Authority{6, 1}));
  EXPECT_EQ(node.core->snapshot().counters.staleRefusals, 3u);
}

TEST_F(AuthorityTest, TheFenceIsInTheFileBeforeTheAnswerLeaves) {
  node.frame(kMaster, [](wire::Bytes& out) { test::appendFence(out, 1, kLeader, 12345); });
  const store::StatePages pages(node.segment.memory, node.segment.gate);
  EXPECT_EQ(pages.get().epoch, 5u);
  EXPECT_EQ(pages.get().nonce, 55u);
  EXPECT_EQ(pages.get().objectLeaseMaxMs, 12345u);
  EXPECT_TRUE(test::readFenceAck(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID)).accepted);
}

TEST_F(AuthorityTest, TheLargestObjectLeaseOfAnyEpochIsKept) {
  node.fence(kMaster, {1, 1}, 30000);
  node.fence(kMaster, {2, 1}, 10);
  node.fence(kMaster, {2, 1}, 40000);
  EXPECT_EQ(node.segment.state->get().objectLeaseMaxMs, 40000u);
}

TEST_F(AuthorityTest, GrantsOfOthersAreRefusedAtTheStart) {
  node.fence(kMaster, kLeader);
  const WriteReply older = node.write(kClient, {4, 99}, {4, 1}, "key", "value");
  EXPECT_EQ(older.status, KV_STALE_EPOCH);
  EXPECT_EQ(older.seen, kLeader);
  ASSERT_TRUE(std::holds_alternative<DiscardPayload>(node.others.back())) << "its payload is on the way";
  EXPECT_EQ(std::get<DiscardPayload>(node.others.back()).length, 5u + 4u);
  EXPECT_EQ(node.write(kClient, {5, 56}, {5, 1}, "key", "value").status, KV_STALE_EPOCH);
  EXPECT_EQ(node.write(kClient, {6, 1}, {6, 1}, "key", "value").status, KV_NOT_FENCED);
  EXPECT_EQ(node.core->snapshot().objects, 0u);
}

TEST_F(AuthorityTest, AnObjectIsOfTheEpochThatGrantedIt) {
  node.fence(kMaster, kLeader);
  for (const uint64_t epoch : {uint64_t{0}, uint64_t{4}, uint64_t{6}, kEpochMax - 1, UINT64_MAX}) {
    EXPECT_EQ(node.write(kClient, kLeader, {epoch, 1}, "key", "value").status, KV_INVALID_ARGUMENT) << epoch;
  }
  EXPECT_EQ(node.core->snapshot().objects, 0u);
  EXPECT_EQ(node.core->snapshot().usedBytes, 0u);
  EXPECT_TRUE(node.records(kMaster).empty()) << "no master heard of them";
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK);
}

TEST_F(AuthorityTest, ALeaderNamesNoIdOfAnEpochAfterItsOwn) {
  const auto ends = [](const std::function<void(wire::Bytes&)>& say) {
    CoreInMemory other(2);
    other.connectMaster(kMaster, 0);
    EXPECT_TRUE(other.fence(kMaster, kLeader).accepted);
    other.frame(kMaster, say);
    EXPECT_EQ(other.core->snapshot().seen, kLeader);
    EXPECT_EQ(other.segment.state->get().purgeEpoch, 0u);
    EXPECT_EQ(other.segment.directory->tombstones(), 0u);
    EXPECT_TRUE(other.sources.empty());
    return other.closeReasons.contains(kMaster);
  };
  Copy copy;
  copy.requestId = 1;
  copy.authority = kLeader;
  copy.objectId = {6, 1};
  copy.payloadLength = 5;
  copy.key = "key";
  copy.sourceTcp = "10.0.0.2:50061";
  EXPECT_TRUE(ends([](wire::Bytes& out) { test::appendFence(out, 2, kLeader, 1000, {6, 0}); }));
  EXPECT_TRUE(ends([](wire::Bytes& out) { test::appendFence(out, 2, {kEpochMax, 1}, 1000); }));
  EXPECT_TRUE(ends([](wire::Bytes& out) { test::appendPurge(out, {2, kLeader, {6, 0}}); }));
  EXPECT_TRUE(ends([](wire::Bytes& out) {
    test::appendKeepTombstones(out, {2, kLeader, {{{5, 9}, "a"}, {{6, 1}, "b"}}});
  }));
  EXPECT_TRUE(ends([&](wire::Bytes& out) { test::appendCopy(out, copy); }));
  EXPECT_FALSE(ends([](wire::Bytes& out) { test::appendFence(out, 2, kLeader, 1000); }));
}

TEST_F(AuthorityTest, AFenceDuringATransferMakesItStaleAtCommit) {
  node.fence(kMaster, kLeader);
  ASSERT_TRUE(node.beginWrite(kClient, kLeader, {5, 1}, "key", 5));
  EXPECT_TRUE(node.fence(kOther, {6, 66}).accepted);
  const WriteReply reply = node.endWrite(kClient, "value");
  EXPECT_EQ(reply.status, KV_STALE_EPOCH);
  EXPECT_EQ(reply.seen, (Authority{6, 66}));
  EXPECT_EQ(node.core->snapshot().objects, 0u);
  EXPECT_EQ(node.core->snapshot().usedBytes, 0u);
  EXPECT_TRUE(node.records(kMaster).empty()) << "no master heard of it";
}

TEST_F(AuthorityTest, FreesOfOthersChangeNothing) {
  node.fence(kMaster, kLeader);
  const WriteReply written = node.write(kClient, kLeader, {5, 1}, "key", "value");
  for (const Authority& other : {Authority{4, 55}, Authority{5, 56}, Authority{6, 55}}) {
    const node::CommandAck ack = node.free(kMaster, other, {{written.extent, {5, 1}}});
    EXPECT_FALSE(ack.accepted);
    EXPECT_EQ(ack.seen, kLeader);
  }
  EXPECT_EQ(node.core->snapshot().objects, 1u);
  EXPECT_TRUE(node.free(kMaster, kLeader, {{written.extent, {5, 1}}}).accepted);
  EXPECT_EQ(node.core->snapshot().objects, 0u);
}

TEST(AuthorityAfterRestart, IsRememberedAndObeyed) {
  CoreInMemory node;
  node.connectMaster(kMaster);
  node.fence(kMaster, kLeader);
  node.segment.open();
  CoreConfig config;
  config.self.poolId = test::kPool;
  config.masters = 1;
  node.core = std::make_unique<NodeCore>(config, *node.segment.directory, *node.segment.state);
  EXPECT_EQ(node.core->snapshot().seen, kLeader);
  EXPECT_FALSE(node.core->snapshot().fenced) << "that is about this life";
  node.core->accepted(0, kClient, false, "client");
  node.frame(kClient, [](wire::Bytes& out) { wire::appendHello(out, test::clientHello()); });
  EXPECT_EQ(node.write(kClient, {4, 1}, {4, 1}, "key", "value").status, KV_STALE_EPOCH);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_NOT_FENCED)
      << "what its grants are told by was never stored";
  node.connectMaster(kMaster);
  EXPECT_TRUE(node.fence(kMaster, kLeader).accepted);
  EXPECT_EQ(node.write(kClient, kLeader, {5, 1}, "key", "value").status, KV_OK);
}

}  // namespace
}  // namespace kvpool::node
