// SPDX-License-Identifier: Apache-2.0
// What clients read from the SSD of a node: with whom they share it, and who waits for whom.
#include <gtest/gtest.h>

#include "node/core/tier_fixture.h"

namespace kvpool::node {
namespace {

using test::kClient;
using test::kLeader;
using test::kMaster;

using TierReadsTest = TierTest;

TEST_F(TierReadsTest, WhatIsInMemoryDoesNotWaitForTheDisk) {
  const ExtentRef onDisk = putBoth(1);
  const ExtentRef memory = put(2);
  node.others.clear();
  node.inbox(kClient).clear();
  ask(1, onDisk);
  ask(2, memory);
  ASSERT_EQ(node.others.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<SendPayload>(node.others[0]));
  work();
  ASSERT_EQ(node.others.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<SendTierPayload>(node.others[1]));
  const auto answered = replies(kClient);
  ASSERT_EQ(answered.size(), 2U);
  EXPECT_EQ(answered[0].requestId, 2U);
  EXPECT_EQ(answered[1].requestId, 1U);
  node.core->payloadSent(kClient);
  node.core->payloadSent(kClient);
  EXPECT_EQ(node.segment.directory->quarantinedBytes(), 0U);
}

TEST_F(TierReadsTest, TheDiskAnswersWhatItHasFirst) {
  const ExtentRef first = putBoth(1);
  const ExtentRef second = putBoth(2);
  node.inbox(kClient).clear();
  ask(1, first);
  ask(2, second);
  ASSERT_EQ(node.tierJobs.size(), 2U);
  std::swap(node.tierJobs[0], node.tierJobs[1]);
  work();
  const auto answered = replies(kClient);
  ASSERT_EQ(answered.size(), 2U);
  EXPECT_EQ(answered[0].requestId, 2U);
  EXPECT_EQ(answered[1].requestId, 1U);
}

TEST_F(TierReadsTest, ReadsThatWaitForTheDiskAreBounded) {
  const ExtentRef extent = putBoth(1);
  for (uint64_t request = 1; request <= ClientSessions::kReadsQueuedMax; ++request)
    askOf(kClient, request, 1, extent, kValue.size());
  EXPECT_TRUE(node.closeReasons.empty());
  EXPECT_EQ(node.tierJobs.size(), ClientSessions::kTierReadsMax);
  askOf(kClient, 1, 1, extent, kValue.size());
  EXPECT_NE(node.closeReasons[kClient].find("1024 reads wait"), std::string::npos);
}

/// An engine that is stopped in the middle of its batch takes nothing for as long as its connection lives.
TEST_F(TierReadsTest, ReadersThatStopLeaveRoomForOthers) {
  const std::string value(size_t{4} << 20, 'w');
  const ExtentRef memory = put(1, value);
  demote(1, memory, kLeader, value);
  work();
  const ExtentRef extent = tierExtent(1);
  constexpr ConnectionId kStopped = 4;  // connections that take nothing
  for (ConnectionId reader = kClient; reader < kClient + kStopped; ++reader) {
    if (reader != kClient) node.connectClient(reader);
    node.others.clear();
    for (uint64_t request = 1; request <= Tier::kReadBytesMax / value.size(); ++request)
      askOf(reader, request, 1, extent, value.size());
    work();
    const uint64_t share = node.others.size() * value.size();
    EXPECT_GT(share, 0U);
    EXPECT_LE(share, Tier::kReadBytesMax / 4 + value.size());
  }
  node.connectClient(kClient + kStopped);
  askOf(kClient + kStopped, 1, 1, extent, value.size());
  work();
  EXPECT_EQ(readReadReply(node.last(kClient + kStopped, test::sbe::ReadReply::SBE_TEMPLATE_ID)).status, KV_OK);
}

TEST_F(TierReadsTest, AReaderThatGoesOnGetsAllItAskedFor) {
  const std::string value(size_t{4} << 20, 'w');
  const ExtentRef memory = put(1, value);
  demote(1, memory, kLeader, value);
  work();
  const ExtentRef extent = tierExtent(1);
  node.others.clear();
  constexpr uint64_t kReads = 64;
  for (uint64_t request = 1; request <= kReads; ++request)
    askOf(kClient, request, 1, extent, value.size());
  work();
  for (size_t taken = 0; taken < kReads; ++taken) {
    ASSERT_GT(node.others.size(), taken) << "nothing more was read";
    node.tierPayloads.erase(std::get<SendTierPayload>(node.others[taken]).op);
    node.core->payloadSent(kClient);
    node.act();
    work();
  }
  EXPECT_EQ(node.others.size(), kReads);
}

TEST_F(TierReadsTest, ADiskThatHangsOnReadsEndsTheTierAndNobodyWaitsForThem) {
  const ExtentRef extent = putBoth(1);
  node.inbox(kClient).clear();
  node.others.clear();
  constexpr size_t kReads = 2 * ClientSessions::kTierReadsMax;
  for (uint64_t request = 1; request <= kReads; ++request)
    askOf(kClient, request, 1, extent, kValue.size());
  EXPECT_LT(node.tierJobs.size(), kReads) << "some are not even begun";
  for (size_t i = 0; i < kTicksOfPatience; ++i)
    awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "a read takes more than 10 s; look at the disk");
  const auto answered = replies(kClient);
  ASSERT_EQ(answered.size(), kReads);
  for (const ReadReply& reply : answered)
    EXPECT_EQ(reply.status, KV_NOT_FOUND);

  work();  // too late
  EXPECT_EQ(replies(kClient).size(), kReads);
  EXPECT_TRUE(node.others.empty());
  EXPECT_TRUE(node.tierPayloads.empty());
}

TEST_F(TierReadsTest, ADiskThatIsSlowAndGoesOnStays) {
  const ExtentRef extent = putBoth(1);
  node.inbox(kClient).clear();
  ask(1, extent);
  for (int round = 0; round < 3; ++round) {
    ask(1, extent);
    for (size_t i = 0; i < kTicksOfPatience; ++i)
      awhile();
    const node::Action next = node.tierJobs.at(1);
    node.tierJobs.pop_back();
    ASSERT_TRUE(node.workTier());
    node.tierJobs.push_back(next);
  }
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  EXPECT_EQ(replies(kClient).size(), 3U);
}

TEST_F(TierReadsTest, WhoWaitsForRoomIsToldOfTheEnd) {
  const std::string value(size_t{4} << 20, 'w');
  demote(1, put(1, value), kLeader, value);
  work();
  const ExtentRef extent = tierExtent(1);
  node.inbox(kClient).clear();
  constexpr uint64_t kReads = 64;
  for (uint64_t request = 1; request <= kReads; ++request)
    askOf(kClient, request, 1, extent, value.size());
  work();
  ASSERT_LT(replies(kClient).size(), kReads) << "it takes none of them";
  node.connectClient(kClient + 1);
  askOf(kClient + 1, 1, 1, extent, value.size());
  for (size_t i = 0; i <= kTicksOfPatience; ++i)
    awhile();
  ASSERT_EQ(replies(kClient).size(), kReads);
  EXPECT_EQ(replies(kClient).back().status, KV_NOT_FOUND);
  EXPECT_EQ(replies(kClient + 1).at(0).status, KV_NOT_FOUND);
}

TEST_F(TierReadsTest, AReaderThatLeavesTakesNothingWithIt) {
  const ExtentRef extent = putBoth(1);
  ask(1, extent);
  node.core->closed(node.nowMs, kClient);
  work();
  EXPECT_TRUE(node.tierPayloads.empty());
  node.connectClient(kClient + 1);
  node.frame(kClient + 1, [&](wire::Bytes& out) { appendReadRequest(out, {1, extent, {5, 1}, kValue.size()}); });
  work();
  EXPECT_EQ(readReadReply(node.last(kClient + 1, test::sbe::ReadReply::SBE_TEMPLATE_ID)).status, KV_OK);
}

/// Whoever connects, asks and leaves, again and again, does not have the disk read without end.
TEST_F(TierReadsTest, WhatIsReadForReadersThatLeftCounts) {
  const std::string value(size_t{4} << 20, 'w');
  demote(1, put(1, value), kLeader, value);
  work();
  const ExtentRef extent = tierExtent(1);
  constexpr uint64_t kClients = 2 * Tier::kReadBytesMax / (size_t{4} << 20);
  for (ConnectionId client = 100; client < 100 + kClients; ++client) {
    node.connectClient(client);
    for (uint64_t request = 1; request <= ClientSessions::kTierReadsMax; ++request)
      askOf(client, request, 1, extent, value.size());
    node.core->closed(node.nowMs, client);
    node.act();
  }
  EXPECT_LE(node.tierJobs.size(), Tier::kReadBytesMax / value.size());
  EXPECT_GT(node.tierJobs.size(), ClientSessions::kTierReadsMax);
  EXPECT_EQ(node.tierCancels.size(), node.tierJobs.size());

  // Who waits for them is served when they have ended.
  node.inbox(kClient).clear();
  askOf(kClient, 1, 1, extent, value.size());
  EXPECT_TRUE(replies(kClient).empty());
  work();
  ASSERT_EQ(replies(kClient).size(), 1U);
  EXPECT_EQ(replies(kClient)[0].status, KV_OK);
  EXPECT_EQ(node.tierPayloads.size(), 1U) << "of readers that left nothing is kept";
}

TEST_F(TierReadsTest, SmallReadsOfReadersThatLeftCountAsBlocks) {
  const ExtentRef extent = putBoth(1);
  constexpr uint64_t kHeld = ssd::tierExtentBytes(10'000);
  constexpr uint64_t kClients = Tier::kReadBytesMax / kHeld / ClientSessions::kTierReadsMax + 100;
  for (ConnectionId client = 100; client < 100 + kClients; ++client) {
    node.connectClient(client);
    for (uint64_t request = 1; request <= ClientSessions::kTierReadsMax; ++request)
      askOf(client, request, 1, extent, kValue.size());
    node.core->closed(node.nowMs, client);
    node.act();
  }
  EXPECT_LE(node.tierJobs.size(), Tier::kReadBytesMax / kHeld + 1);
}

TEST_F(TierReadsTest, ATierThatEndsForgetsReadersThatLeft) {
  const ExtentRef extent = putBoth(1);
  ask(1, extent);
  node.core->closed(node.nowMs, kClient);
  node.act();
  for (size_t i = 0; i <= kTicksOfPatience; ++i)
    awhile();
  EXPECT_NE(node.core->snapshot().tierProblem, "");
  work();
  EXPECT_TRUE(node.tierPayloads.empty());
}

TEST_F(TierReadsTest, AReadThatDidNotBeginIsNoFailureOfTheDisk) {
  const ExtentRef extent = putBoth(1);
  ask(1, extent);
  const uint64_t op = std::get<TierRead>(node.tierJobs.at(0)).op;
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_EQ(node.tierCancels, std::vector<uint64_t>{op});
  node.tierJobs.clear();
  node.core->tierRead(op, {KV_CLOSED, "it is not wanted any more"});
  node.act();
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  node.connectClient(kClient);
  EXPECT_EQ(read(1, extent), kValue);
}

}  // namespace
}  // namespace kvpool::node
