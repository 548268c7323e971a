// SPDX-License-Identifier: Apache-2.0
// What clients that offered memory read from the SSD: into staging memory of the node, and from there to theirs.
#include <gtest/gtest.h>

#include "client/core/requests.h"
#include "node/core/tier_fixture.h"

namespace kvpool::node {
namespace {

using test::kClient;
using test::kLeader;

constexpr uint64_t kOfferedBytes = 1 << 20;

class StagedTierReadsTest : public TierTest {
 protected:
  explicit StagedTierReadsTest(uint64_t stagingBytes = uint64_t{128} << 20) {
    node.config.remote = RemoteProtocol::Ascend;
    node.config.tierStagingBytes = stagingBytes;
    restart();
    extent = putBoth(1);
    attach(kClient);
  }
  void attach(ConnectionId client) {
    node.frame(client, [](wire::Bytes& out) {
      out = client::stagingAttach(7, {kOfferedBytes, 4096, "127.0.0.1:1", {}, RemoteProtocol::Ascend, 1});
    });
    node.core->remoteConnected(client, {});
    node.act();
    node.inbox(client).clear();
    node.others.clear();
  }
  void askStaged(uint64_t request, ConnectionId client = kClient, uint64_t counter = 1) {
    node.frame(client, [&](wire::Bytes& out) {
      out = client::stagedRead(request, extent, {5, counter}, kValue.size(), 4096 * request);
    });
  }
  void pushed(uint64_t transfer, bool good) {
    node.staging.erase(transfer);
    node.core->pushed(transfer, good);
    node.act();
  }
  int32_t status(size_t number = 0) { return replies(kClient).at(number).status; }
  uint64_t moved() { return node.core->snapshot().counters.ascend.readBytes; }

  ExtentRef extent;
};

class WithoutStaging : public StagedTierReadsTest {
 protected:
  WithoutStaging() : StagedTierReadsTest(0) {}
};

TEST_F(StagedTierReadsTest, ThePayloadIsReadIntoStagingMemoryAndMovedFromThere) {
  askStaged(9);
  EXPECT_TRUE(node.tierJobs.empty()) << "there is no place for it yet";
  ASSERT_EQ(node.stagingWanted.size(), 1U);
  EXPECT_EQ(node.stagingWanted[0].connection, kClient);
  EXPECT_EQ(node.stagingWanted[0].length, kValue.size());
  const uint64_t transfer = node.giveStaging();
  ASSERT_EQ(node.tierJobs.size(), 1U);
  EXPECT_EQ(std::get<TierRead>(node.tierJobs[0]).transfer, transfer);
  work();
  ASSERT_EQ(node.others.size(), 1U);
  const auto push = std::get<PushStaged>(node.others[0]);
  EXPECT_EQ(push.connection, kClient);
  EXPECT_EQ(push.transfer, transfer);
  EXPECT_EQ(push.stagingOffset, 4096U * 9);
  EXPECT_EQ(push.length, kValue.size());
  const auto staged = node.staging.at(transfer).bytes().first(push.length);
  EXPECT_EQ(std::string(staged.begin(), staged.end()), kValue);
  EXPECT_TRUE(node.tierPayloads.empty()) << "a second copy";
  EXPECT_TRUE(replies(kClient).empty());
  pushed(transfer, true);
  EXPECT_EQ(status(), KV_OK);
  EXPECT_EQ(replies(kClient)[0].requestId, 9U);
  EXPECT_EQ(replies(kClient)[0].payloadLength, kValue.size());
  EXPECT_EQ(moved(), kValue.size());
  EXPECT_EQ(node.core->snapshot().counters.tierReads, 1U);
  EXPECT_EQ(node.core->snapshot().counters.reads, 1U);
  EXPECT_EQ(node.core->snapshot().counters.readBytes, kValue.size());
}

TEST_F(StagedTierReadsTest, AWaitForStagingMemoryIsNotTheDisks) {
  askStaged(1);
  for (size_t i = 0; i < 3 * kTicksOfPatience; ++i)
    awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  const uint64_t transfer = node.giveStaging();
  work();
  pushed(transfer, true);
  EXPECT_EQ(status(), KV_OK);
}

TEST_F(StagedTierReadsTest, MemoryDoesNotWaitForIt) {
  const ExtentRef memory = put(2);
  askStaged(1);
  node.others.clear();
  node.inbox(kClient).clear();
  ask(2, memory);
  ASSERT_EQ(node.others.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<SendPayload>(node.others[0]));
}

TEST_F(StagedTierReadsTest, ReadsGoOnWithTheNextWhenOneHasStagingMemory) {
  constexpr uint64_t kReads = ClientSessions::kTierReadsMax + 2;
  for (uint64_t request = 1; request <= kReads; ++request)
    askStaged(request);
  for (size_t i = 0; i < ClientSessions::kTierReadsMax; ++i) {
    ASSERT_EQ(node.stagingWanted.size(), 1U);
    node.giveStaging();
  }
  EXPECT_TRUE(node.stagingWanted.empty()) << "the disk reads as many as may be";
  work();
  while (!node.stagingWanted.empty()) {
    node.giveStaging();
    work();
  }
  EXPECT_EQ(node.others.size(), kReads);
}

TEST_F(StagedTierReadsTest, AFailedTransferFailsItsLineAlone) {
  askStaged(1);
  const uint64_t first = node.giveStaging();
  askStaged(2);
  const uint64_t second = node.giveStaging();
  work();
  pushed(first, false);
  pushed(second, true);
  EXPECT_EQ(status(0), KV_TRANSFER_FAILED);
  EXPECT_EQ(status(1), KV_OK);
  EXPECT_EQ(moved(), kValue.size());
}

TEST_F(StagedTierReadsTest, WithoutStagingMemoryForItALineFailsAndTheNextGoesOn) {
  askStaged(1);
  askStaged(2);
  const uint64_t refused = node.stagingWanted.front().transfer;
  node.stagingWanted.pop_front();
  node.core->stagingTaken(refused, false);
  node.act();
  EXPECT_EQ(status(), KV_TRANSFER_FAILED);
  const uint64_t transfer = node.giveStaging();
  work();
  pushed(transfer, true);
  EXPECT_EQ(status(1), KV_OK);
}

TEST_F(StagedTierReadsTest, WhatIsNotThereGivesItsStagingMemoryBack) {
  askStaged(1, kClient, 2);
  node.giveStaging();
  EXPECT_EQ(status(), KV_NOT_FOUND);
  EXPECT_TRUE(node.staging.empty());
  EXPECT_TRUE(node.tierJobs.empty());
}

TEST_F(StagedTierReadsTest, DamageIsFoundInTheStagingMemoryAndNothingIsMoved) {
  const uint64_t offset = node.table->slot(extent.slot).object.extent.offset;
  node.disk->bytes.data()[offset + 5000] ^= 1;
  askStaged(1);
  node.giveStaging();
  work();
  EXPECT_EQ(status(), KV_CHECKSUM);
  EXPECT_TRUE(node.staging.empty());
  EXPECT_TRUE(node.others.empty());
  EXPECT_EQ(node.core->snapshot().counters.damaged, 1U);
}

TEST_F(StagedTierReadsTest, AClientThatLeavesWhileItWaitsTakesNothing) {
  askStaged(1);
  node.core->closed(node.nowMs, kClient);
  node.act();
  node.giveStaging();
  EXPECT_TRUE(node.staging.empty());
  EXPECT_TRUE(node.tierJobs.empty());
}

TEST_F(StagedTierReadsTest, WhatIsReadForAClientThatLeftIsHeldUntilTheDiskIsThrough) {
  askStaged(1);
  node.giveStaging();
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_EQ(node.tierCancels.size(), 1U);
  EXPECT_EQ(node.staging.size(), 1U) << "the disk still writes there";
  work();
  EXPECT_TRUE(node.staging.empty());
  EXPECT_TRUE(node.others.empty());
}

TEST_F(StagedTierReadsTest, WhatIsMovedToAClientThatLeftEndsWithItsTransfer) {
  askStaged(1);
  const uint64_t transfer = node.giveStaging();
  work();
  node.core->closed(node.nowMs, kClient);
  node.act();
  EXPECT_EQ(node.staging.size(), 1U) << "the transport still reads it";
  pushed(transfer, false);
  node.connectClient(kClient + 1);
  EXPECT_EQ(node.core->snapshot().clientsConnected, 1U);
}

TEST_F(StagedTierReadsTest, ATierThatEndsAnswersAllAndItsStagingMemoryIsHeldUntilTheDiskIsThrough) {
  constexpr uint64_t kReads = ClientSessions::kTierReadsMax + 2;
  for (uint64_t request = 1; request <= kReads; ++request)
    askStaged(request);
  node.giveStaging();
  node.giveStaging();
  for (size_t i = 0; i <= kTicksOfPatience; ++i)
    awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "a read takes more than 10 s; look at the disk");
  ASSERT_EQ(replies(kClient).size(), kReads) << "also those that wait for staging memory";
  for (const ReadReply& reply : replies(kClient))
    EXPECT_EQ(reply.status, KV_NOT_FOUND);
  EXPECT_EQ(node.staging.size(), 2U) << "the disk still writes there";
  node.giveStaging();
  EXPECT_EQ(node.staging.size(), 2U) << "what came too late goes back";
  work();
  EXPECT_TRUE(node.staging.empty());
  EXPECT_TRUE(node.others.empty());
  EXPECT_EQ(replies(kClient).size(), kReads);
}

TEST_F(StagedTierReadsTest, StagingMemoryIsAPartOfTheMemoryForReads) {
  const std::string value(size_t{4} << 20, 'w');
  demote(2, put(2, value), kLeader, value);
  work();
  node.connectClient(kClient + 1);
  node.others.clear();
  for (uint64_t request = 1; request <= Tier::kReadBytesMax / value.size(); ++request)
    askOf(kClient + 1, request, 2, tierExtent(2), value.size());
  work();
  EXPECT_GT(node.others.size(), 0U);
  EXPECT_LE(node.others.size() * value.size(), Tier::kReadBytesMax / 8 + value.size()) << "a quarter of one half";
}

TEST_F(WithoutStaging, ItIsSaidSoAndTheConnectionIsThere) {
  askStaged(1);
  EXPECT_EQ(status(), KV_INVALID_ARGUMENT);
  EXPECT_TRUE(node.stagingWanted.empty());
  EXPECT_EQ(read(1, extent), kValue);
}

}  // namespace
}  // namespace kvpool::node
