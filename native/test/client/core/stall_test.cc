// SPDX-License-Identifier: Apache-2.0
// put towards a node that stands still, as one stopped by SIGSTOP does: connections stay, nothing moves.
#include <gtest/gtest.h>

#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

/// A put that was granted on these nodes and whose leader hears of it.
struct StalledPut {
  CoreHarness h;
  ConnectionId leader = h.lead();
  uint64_t batch = 0;

  void begin(const std::string& value, const std::vector<client::NodeAddress>& nodes) {
    batch = h.put("k", value);
    h.replyGrant(leader, h.expectGrant(leader), KV_OK, nodes, {1, 1});
  }

  /// The leader hears that no node took the value.
  void expectGivenBack() {
    const auto back = h.expectPublish(leader);
    EXPECT_FALSE(back.objects.at(0).written);
    EXPECT_TRUE(back.objects.at(0).committed.empty());
    h.replyPublish(leader, back, KV_OK);
    h.pass(client::kRetryLongestMs);
  }

  void finish(ConnectionId node, ObjectId object) {
    const auto write = h.expectWrite(node);
    EXPECT_EQ(write.object, object);
    h.replyWrite(node, write.request, KV_OK);
    h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
  }
};

TEST(CoreStall, AnUnansweredWriteIsGivenBackAndGoesToAnotherNode) {
  StalledPut put;
  put.begin("value", {nodeAddress(1)});
  const auto frozen = put.h.acceptNode(1);
  const auto unanswered = put.h.expectWrite(frozen);
  put.h.pass(client::kFallOverMs - 5);
  EXPECT_FALSE(put.h.nextBody(put.leader)) << "given up too early";
  put.h.pass(5);
  put.expectGivenBack();
  put.h.replyGrant(put.leader, put.h.expectGrant(put.leader), KV_OK, {nodeAddress(2)}, {1, 2});
  put.finish(put.h.acceptNode(2), {1, 2});

  put.h.replyWrite(frozen, unanswered.request, KV_OK);  // it goes on: the late answer is nobody's
  EXPECT_FALSE(put.h.closes(frozen));
}

TEST(CoreStall, APayloadOnTheWayClosesTheConnectionBeforeItsMemoryIsUsedAgain) {
  StalledPut put;
  put.begin(std::string(1000, 'v'), {nodeAddress(1)});
  const auto frozen = put.h.acceptNode(1);
  ASSERT_TRUE(put.h.next<client::SendPayload>());  // and never payloadSent
  put.h.pass(client::kFallOverMs);
  EXPECT_TRUE(put.h.closes(frozen));
  put.expectGivenBack();
  put.h.replyGrant(put.leader, put.h.expectGrant(put.leader), KV_OK, {nodeAddress(2)}, {1, 2});
  put.finish(put.h.acceptNode(2), {1, 2});
}

TEST(CoreStall, ANodeThatAcceptsAndDoesNotGreetIsNotWaitedFor) {
  StalledPut put;
  put.begin("value", {nodeAddress(1)});
  const auto frozen = put.h.expectDial("node-1:1");
  put.h.open(frozen);
  put.h.pass(client::kFallOverMs);
  put.expectGivenBack();
  put.h.replyGrant(put.leader, put.h.expectGrant(put.leader), KV_OK, {nodeAddress(2)}, {1, 2});
  put.finish(put.h.acceptNode(2), {1, 2});
}

TEST(CoreStall, OfTwoReplicasTheOneThatWasWrittenIsEnough) {
  StalledPut put;
  put.begin("value", {nodeAddress(1), nodeAddress(2)});
  const auto frozen = put.h.acceptNode(1);
  const auto good = put.h.acceptNode(2);
  (void)put.h.expectWrite(frozen);
  put.h.replyWrite(good, put.h.expectWrite(good).request, KV_OK);
  put.h.pass(client::kFallOverMs);
  const auto publish = put.h.expectPublish(put.leader);
  EXPECT_EQ(publish.objects.at(0).committed, std::vector<uint64_t>{2});
  put.h.replyPublish(put.leader, publish, KV_OK);
  EXPECT_EQ(put.h.expectStatus(put.batch), KV_OK);
}

TEST(CoreStall, WhereThereIsNoOtherNodeEachTryIsMorePatient) {
  StalledPut put;
  put.begin("value", {nodeAddress(1)});
  const auto slow = put.h.acceptNode(1);
  (void)put.h.expectWrite(slow);
  put.h.pass(client::kFallOverMs);
  put.expectGivenBack();
  put.h.core.progressed(put.h.now, slow);
  put.h.replyGrant(put.leader, put.h.expectGrant(put.leader), KV_OK, {nodeAddress(1)}, {1, 2});
  const auto write = put.h.expectWrite(slow);
  put.h.pass(2 * client::kFallOverMs - 5);
  EXPECT_FALSE(put.h.nextBody(put.leader)) << "the node has twice the time now";
  put.h.replyWrite(slow, write.request, KV_OK);
  put.h.replyPublish(put.leader, put.h.expectPublish(put.leader), KV_OK);
  EXPECT_EQ(put.h.expectStatus(put.batch), KV_OK);
}

TEST(CoreStall, AWriteThatMovesIsNotGivenUp) {
  StalledPut put;
  put.begin(std::string(1000, 'v'), {nodeAddress(1)});
  const auto slow = put.h.acceptNode(1);
  const auto payload = put.h.next<client::SendPayload>();
  ASSERT_TRUE(payload);
  for (int i = 0; i < 2; ++i) {
    put.h.pass(client::kFallOverMs - 5);
    put.h.core.progressed(put.h.now, slow);
  }
  EXPECT_FALSE(put.h.closes(slow));
  EXPECT_FALSE(put.h.nextBody(put.leader));
}

}  // namespace
}  // namespace kvpool::test
