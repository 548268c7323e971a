// SPDX-License-Identifier: Apache-2.0
// put, step by step: what each answer of the leader and of the nodes leads to.
#include <gtest/gtest.h>

#include "base/group_id.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

TEST(CorePut, TakesThreeRoundTripsAndIsAcknowledgedOnlyByThePublish) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  const auto grant = h.expectGrant(leader);
  EXPECT_EQ(grant.keys.at(0).key, "k");
  EXPECT_EQ(grant.keys.at(0).payloadLength, 5u);
  EXPECT_EQ(grant.deadlineMs, 30000u);

  h.replyGrant(leader, grant, KV_OK, {nodeAddress(1)}, {1, 42});
  const auto node = h.acceptNode(1);
  const auto write = h.expectWrite(node);
  EXPECT_EQ(write.payload, "value");
  EXPECT_EQ(write.object, (ObjectId{1, 42}));
  h.replyWrite(node, write.request, KV_OK);
  EXPECT_FALSE(h.result(batch)) << "a written object is not yet an acknowledged one";

  const auto publish = h.expectPublish(leader);
  EXPECT_TRUE(publish.objects.at(0).written);
  EXPECT_EQ(publish.objects.at(0).committed, std::vector<uint64_t>{1});
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, NamesOfNodesThatThereAreNotAreWarnedOfOnce) {
  CoreHarness h;
  const auto leader = h.lead();
  const auto put = [&](const char* key, const char* unknown) {
    client::Submission submission;
    submission.op = OpCode::Put;
    submission.lines = {operation(key, nullptr, 0)};
    submission.nodes = "x:1,node-1,y";
    const uint64_t batch = h.submit(std::move(submission));
    const auto asked = h.expectGrant(leader);
    EXPECT_EQ(asked.preferredNodes, "x:1,node-1,y");
    client::GrantReply reply{asked.request, KV_OK, {1, 5}, {}, {}, unknown};
    reply.grants.emplace_back().status = KV_EXISTS;
    h.deliver(leader, master::grantReply(reply, asked.deadlineMs));
    EXPECT_EQ(h.expectStatus(batch), KV_OK);
    std::string notes;
    while (const auto note = h.next<client::Note>())
      notes += note->text + "\n";
    return notes;
  };
  EXPECT_EQ(put("a", ""), "");
  const std::string both = put("b", "x:1,y");
  EXPECT_NE(both.find("'x:1'"), std::string::npos) << both;
  EXPECT_NE(both.find("'y'"), std::string::npos) << both;
  EXPECT_EQ(put("c", "y,x:1"), "");
  EXPECT_NE(put("d", "x:1,z").find("'z'"), std::string::npos);
}

TEST(CorePut, AnExistingKeyIsOkWithoutAWrite) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, WhatItsWriterAsksForTravelsWithTheObject) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "value";
  client::Submission submission;
  submission.op = OpCode::Put;
  submission.lines = {operation("k", value.data(), value.size())};
  submission.lines.front().group = groupId("session");
  submission.pins = kPinSoft | kPinHard;
  submission.softPinMs = 90000;
  h.submit(std::move(submission));
  const auto grant = h.expectGrant(leader);
  EXPECT_FALSE(grant.replace);
  h.replyGrant(leader, grant, KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  EXPECT_EQ(h.expectWrite(node).retention, (Retention{kPinSoft | kPinHard, 90000, groupId("session")}));
}

TEST(CorePut, WhatTheLeaderSaysOfPinsIsWritten) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "value";
  client::Submission submission;
  submission.op = OpCode::Put;
  submission.lines = {operation("k", value.data(), value.size())};
  submission.lines.front().group = groupId("session");
  submission.upsert = true;
  submission.pins = kPinKeepSoft;
  h.submit(std::move(submission));
  const auto grant = h.expectGrant(leader);
  EXPECT_TRUE(grant.keys.front().keepsSoftPin);
  h.replyGrant(leader, grant, {kPinSoft, 90000, 0}, 1);
  const auto node = h.acceptNode(1);
  EXPECT_EQ(h.expectWrite(node).retention, (Retention{kPinSoft, 90000, groupId("session")}));
}

TEST(CorePut, WithoutAWishNothingIsPinned) {
  CoreHarness h;
  const auto leader = h.lead();
  h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  EXPECT_EQ(h.expectWrite(node).retention, Retention{});
}

/// An upsert that was written; `publish` is what it asked last.
uint64_t beginUpsert(CoreHarness& h, ConnectionId leader, std::string& value, PublishRequest* publish) {
  client::Submission submission;
  submission.op = OpCode::Put;
  submission.lines = {operation("k", value.data(), value.size())};
  submission.upsert = true;
  const uint64_t batch = h.submit(std::move(submission));
  const auto grant = h.expectGrant(leader);
  EXPECT_TRUE(grant.replace);
  h.replyGrant(leader, grant, KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, KV_OK);
  *publish = h.expectPublish(leader);
  return batch;
}

TEST(CorePut, AnUpsertAsksToReplaceAndIsDoneWhenPublished) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "value";
  PublishRequest publish;
  const uint64_t batch = beginUpsert(h, leader, value, &publish);
  EXPECT_FALSE(h.result(batch));
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, AnUpsertThatANewerOneFollowedIsDone) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "value";
  PublishRequest publish;
  const uint64_t batch = beginUpsert(h, leader, value, &publish);
  h.replyPublish(leader, publish, KV_EXISTS);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, AnUpsertUnderAVoidGrantIsDoneAgainNotReportedAsDone) {
  CoreHarness h;
  const auto leader = h.lead();
  std::string value = "value";
  PublishRequest publish;
  const uint64_t batch = beginUpsert(h, leader, value, &publish);
  h.replyPublish(leader, publish, KV_STALE_EPOCH);
  EXPECT_FALSE(h.result(batch));
  h.pass(client::kRetryLongestMs);
  EXPECT_TRUE(h.expectGrant(leader).replace);
}

TEST(CorePut, ABusyKeyIsAskedForAgainUntilItExists) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  for (int i = 0; i < 5; ++i) {
    h.replyGrant(leader, h.expectGrant(leader), KV_BUSY, {});
    EXPECT_FALSE(h.nextBody(leader)) << "asked again without a pause";
    h.pass(client::kRetryLongestMs);
  }
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, ABusyKeyEndsBusyAtTheDeadline) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value", 1000);
  for (int i = 0; i < 300 && !h.result(batch); ++i) {
    if (const auto body = h.nextBody(leader)) h.replyGrant(leader, readGrantRequest(*body), KV_BUSY, {});
    h.pass(5);
  }
  EXPECT_EQ(h.expectStatus(batch), KV_BUSY);
}

TEST(CorePut, AFullPoolIsTriedABoundedNumberOfTimes) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  for (uint32_t i = 0; i < client::kNoSpaceTries; ++i) {
    ASSERT_FALSE(h.result(batch));
    h.replyGrant(leader, h.expectGrant(leader), KV_NO_SPACE, {});
    h.pass(client::kRetryLongestMs);
  }
  EXPECT_EQ(h.expectStatus(batch), KV_NO_SPACE);
  EXPECT_NE(h.core.explanation().find(std::to_string(client::kNoSpaceTries) + " tries"), std::string::npos);
}

TEST(CorePut, RoomThatWillComeIsWaitedForUntilTheDeadlineAndSaid) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value", 20000);
  uint32_t asked = 0;
  for (int64_t passed = 0; passed < 20000; passed += 100) {
    if (const auto body = h.nextBody(leader)) {
      ++asked;
      h.promiseRoom(leader, readGrantRequest(*body), 12345);
    }
    ASSERT_FALSE(h.result(batch)) << "after " << passed << " ms";
    h.pass(100);
  }
  EXPECT_GT(asked, client::kNoSpaceTries);
  EXPECT_EQ(h.expectStatus(batch), KV_NO_SPACE);
  EXPECT_NE(h.core.explanation().find("12345 ms"), std::string::npos) << h.core.explanation();
}

TEST(CorePut, APromiseOfRoomStartsTheCountOfTriesAnew) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  for (uint32_t i = 0; i < 3 * client::kNoSpaceTries; ++i) {
    const auto request = h.expectGrant(leader);
    if (i % 2 == 0) {
      h.replyGrant(leader, request, KV_NO_SPACE, {});
    } else {
      h.promiseRoom(leader, request, 1);
    }
    ASSERT_FALSE(h.result(batch));
    h.pass(client::kRetryLongestMs);
  }
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, AFullNodeGivesTheGrantBackAndLetsTheLeaderEvict) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, KV_NO_SPACE);
  const auto back = h.expectPublish(leader);
  EXPECT_FALSE(back.objects.at(0).written);
  h.replyPublish(leader, back, KV_OK);
  EXPECT_FALSE(h.result(batch));
  h.pass(client::kRetryLongestMs);
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, NodesThatLackTheRoomThatTheLeaderSeesAreTriedUntilTheDeadline) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value", 20000);
  ConnectionId node = 0;
  uint32_t refused = 0;
  while (!h.result(batch)) {
    if (const auto body = h.nextBody(leader)) {
      h.replyGrant(leader, readGrantRequest(*body), KV_OK, {nodeAddress(1)});
      if (refused++ == 0) node = h.acceptNode(1);
      h.replyWrite(node, h.expectWrite(node).request, KV_NO_SPACE);
      h.replyPublish(leader, h.expectPublish(leader), KV_OK);
    }
    h.pass(100);
  }
  EXPECT_GT(refused, 20000 / client::kRetryLongestMs - 1);
  EXPECT_EQ(h.expectStatus(batch), KV_NO_SPACE);
  EXPECT_NE(h.core.explanation().find("storage nodes"), std::string::npos) << h.core.explanation();
}

TEST(CorePut, OneOfTwoReplicasIsSuccess) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1), nodeAddress(2)});
  const auto first = h.acceptNode(1);
  const auto second = h.acceptNode(2);
  h.replyWrite(first, h.expectWrite(first).request, KV_OK);
  (void)h.expectWrite(second);
  h.pass(50);
  EXPECT_FALSE(h.nextBody(leader)) << "the other replica may still come";
  h.cut(second);
  const auto publish = h.expectPublish(leader);
  EXPECT_EQ(publish.objects.at(0).committed, std::vector<uint64_t>{1});
  h.replyPublish(leader, publish, KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

class RefusedWrite : public testing::TestWithParam<int32_t> {};

TEST_P(RefusedWrite, LeadsToANewGrant) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 1});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, GetParam());
  h.replyPublish(leader, h.expectPublish(leader), KV_STALE_EPOCH);
  h.pass(client::kRetryLongestMs);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {2, 1});
  const auto again = h.expectWrite(node);
  EXPECT_EQ(again.object, (ObjectId{2, 1}));
  h.replyWrite(node, again.request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

INSTANTIATE_TEST_SUITE_P(CorePut, RefusedWrite,
                         testing::Values(KV_STALE_EPOCH, KV_NOT_FENCED, KV_CHECKSUM, KV_BUSY, KV_IO));

TEST(CorePut, ALostNodeConnectionLeadsToANewGrant) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  (void)h.expectWrite(node);
  h.cut(node);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  h.pass(client::kRetryLongestMs);
  h.replyGrant(leader, h.expectGrant(leader), KV_EXISTS, {});
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, AnotherLifeAtTheNodesAddressIsNotWrittenTo) {
  CoreHarness h;
  const auto leader = h.lead();
  h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.expectDial("node-1:1");
  h.open(node);
  h.welcome(node, wire::Role::Node, 2);  // an incarnation nobody meant
  EXPECT_TRUE(h.closes(node));
  EXPECT_FALSE(h.expectPublish(leader).objects.at(0).written);
}

TEST(CorePut, APublishLostWithItsLeaderIsSentToTheNext) {
  CoreHarness h({"master-0:1", "master-1:1"});
  const auto leader = h.lead("master-0:1");
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 9});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, KV_OK);
  (void)h.expectPublish(leader);
  h.cut(leader);
  h.pass(5);
  const auto next = h.lead("master-1:1");
  const auto again = h.expectPublish(next);
  EXPECT_EQ(again.objects.at(0).object, (ObjectId{1, 9}));
  h.replyPublish(next, again, KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
  EXPECT_EQ(h.core.statistics().leaderChanges, 1u);
}

TEST(CorePut, APublishThatLostAgainstAnotherObjectIsOk) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, KV_OK);
  h.replyPublish(leader, h.expectPublish(leader), KV_EXISTS);
  EXPECT_EQ(h.expectStatus(batch), KV_OK);
}

TEST(CorePut, AnEarlyRefusalWaitsForThePayloadThatIsStillBeingSent) {
  CoreHarness h;
  const auto leader = h.lead();
  h.put("k", std::string(1000, 'v'));
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  const auto request = node::readWriteRequest(h.expectBody(node)).requestId;
  const auto payload = h.next<client::SendPayload>();
  h.replyWrite(node, request, KV_NO_SPACE);
  EXPECT_FALSE(h.nextBody(leader)) << "the shell still reads the caller's memory";
  h.core.payloadSent(h.now, node, payload->transfer);
  EXPECT_FALSE(h.expectPublish(leader).objects.at(0).written);
}

TEST(CorePut, TheDeadlineTakesTheCallersMemoryBackFirst) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", std::string(1000, 'v'), 500);
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)});
  const auto node = h.acceptNode(1);
  ASSERT_TRUE(h.next<client::SendPayload>());  // and never payloadSent
  h.pass(500);
  EXPECT_TRUE(h.closes(node));
  EXPECT_EQ(h.expectStatus(batch), KV_TIMEOUT);
}

TEST(CorePut, ATooLargeObjectIsNotTriedAgain) {
  CoreHarness h;
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_TOO_LARGE, {});
  EXPECT_EQ(h.expectStatus(batch), KV_TOO_LARGE);
}

TEST(CorePut, AGrantThatANodeDoesNotTakeForTheLeadersIsAskedForAgainOnce) {
  CoreHarness h({"master-0:1"});
  const auto leader = h.lead();
  const uint64_t batch = h.put("k", "value");
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 1});
  const auto node = h.acceptNode(1);
  h.replyWrite(node, h.expectWrite(node).request, KV_NOT_PERMITTED);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  h.passWith(leader, 1000);
  EXPECT_FALSE(h.result(batch)) << "its tenant may have changed between the two";
  h.replyGrant(leader, h.expectGrant(leader), KV_OK, {nodeAddress(1)}, {1, 2});
  h.replyWrite(node, h.expectWrite(node).request, KV_NOT_PERMITTED);
  h.replyPublish(leader, h.expectPublish(leader), KV_OK);
  EXPECT_EQ(h.expectStatus(batch), KV_NOT_PERMITTED);
}

}  // namespace
}  // namespace kvpool::test
