// SPDX-License-Identifier: Apache-2.0
// The SSD tier of a node: what the leader sends there is readable, freed and remembered there, and a disk that fails
// costs only what lies on it.
#include <gtest/gtest.h>

#include "node/core/tier_fixture.h"

namespace kvpool::node {
namespace {

using test::kClient;
using test::kLeader;
using test::kMaster;

TEST_F(TierTest, AnObjectGoesThereAndIsReadFromThereWithoutItsMemory) {
  const ExtentRef memory = put(1);
  node.inbox(kMaster).clear();
  demote(1, memory);
  EXPECT_TRUE(answers().empty()) << "nothing is on the disk yet";
  work();
  const auto told = node.records(kMaster);
  ASSERT_EQ(told.size(), 1U);
  ASSERT_EQ(told[0].records.size(), 1U);
  const auto& record = told[0].records[0];
  EXPECT_EQ(record.extent.segment, kTierSegment);
  EXPECT_EQ(record.extentBytes, ssd::tierExtentBytes(kValue.size()));
  EXPECT_EQ(record.key, key(1));
  EXPECT_EQ(node.types(kMaster).back(), test::sbe::CommandAck::SBE_TEMPLATE_ID) << "the record comes first";
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
  node.free(kMaster, kLeader, {{memory, {5, 1}}});
  EXPECT_EQ(read(1, record.extent), kValue);
  EXPECT_EQ(node.core->snapshot().counters.tierReads, 1U);
  EXPECT_EQ(node.core->snapshot().counters.tierReadBytes, kValue.size());
  EXPECT_EQ(node.core->snapshot().tierObjects, 1U);
}

TEST_F(TierTest, ANodeWhoseObjectsAreAllThereIsNotEmptied) {
  const ExtentRef memory = put(1);
  demote(1, memory);
  work();
  node.free(kMaster, kLeader, {{memory, {5, 1}}});
  ASSERT_EQ(node.segment.directory->objects(), 0U);
  node.core->ended();
  EXPECT_FALSE(store::saysEmptied(node.segment.memory));
  restart();
  EXPECT_FALSE(store::saysEmptied(node.segment.memory)) << "nor is the next life of it";
}

TEST_F(TierTest, ARestartFindsItAndSnapshotsNameIt) {
  const ExtentRef extent = putBoth(1);
  restart();
  EXPECT_EQ(node.tierFound.restored, 1U);
  EXPECT_EQ(read(1, extent), kValue);
  EXPECT_EQ(inSnapshot(), 1U);
}

TEST_F(TierTest, AFreeIsAnsweredWhenTheDiskKnowsIt) {
  const ExtentRef extent = putBoth(1);
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  EXPECT_EQ(read(1, extent), "KV_NOT_FOUND");  // which lets the disk work
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
  restart();
  EXPECT_EQ(node.tierFound.restored, 0U);
}

TEST_F(TierTest, NothingIsAnsweredWhileTheDiskHasNotAnswered) {
  const ExtentRef extent = putBoth(1);
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  node.tick(5000);
  EXPECT_TRUE(answers().empty());
  EXPECT_EQ(node.table->find(extent, {5, 1}), nullptr) << "but nobody reads it any more";
}

/// Or the next leader would call an object stored that is about to go, or one gone that a crash brings back.
TEST_F(TierTest, AFenceIsAnsweredBehindWhatTheDiskHasToClear) {
  const ExtentRef extent = putBoth(1);
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  node.connectMaster(kMaster + 1, 1);
  EXPECT_EQ(inSnapshotOf(kMaster + 1), 0U);
  node.inbox(kMaster + 1).clear();
  node.frame(kMaster + 1, [&](wire::Bytes& out) { test::appendFence(out, 8, {6, 66}, 1000); });
  EXPECT_TRUE(node.inbox(kMaster + 1).empty());
  EXPECT_EQ(node.free(kMaster, kLeader, {}).accepted, false) << "the one before is not obeyed any more";
  work();
  EXPECT_EQ(node.types(kMaster + 1), (std::vector<uint16_t>{test::sbe::DirectoryRecords::SBE_TEMPLATE_ID,
                                                            test::sbe::FenceAck::SBE_TEMPLATE_ID}));
  EXPECT_EQ(node.records(kMaster + 1).at(0).records.at(0).extent, extent);
}

TEST_F(TierTest, ADiskThatHangsEndsTheTierAndHoldsUpNobodyForLonger) {
  const ExtentRef extent = putBoth(1);
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFence(out, 8, {6, 66}, 1000); });
  node.inbox(kMaster).clear();
  for (size_t i = 0; i < kTicksOfPatience; ++i)
    awhile();
  EXPECT_TRUE(node.core->snapshot().tierProblem.empty());
  awhile();
  EXPECT_NE(node.core->snapshot().tierProblem.find("takes more than 10 s"), std::string::npos);
  EXPECT_EQ(test::readFenceAck(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID)).accepted, true);
  work();  // too late
  EXPECT_EQ(node.core->snapshot().tierObjects, 0U);
}

TEST_F(TierTest, ADiskThatHangsOnPayloadsEndsTheTierAndKeepsTheMemoryItReads) {
  const ExtentRef memory = put(1);
  demote(1, memory);
  node.free(kMaster, kLeader, {{memory, {5, 1}}});
  node.inbox(kMaster).clear();
  for (size_t i = 0; i < kTicksOfWrites; ++i)
    awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  EXPECT_TRUE(answers().empty());
  awhile();
  EXPECT_EQ(node.core->snapshot().tierProblem, "a write of a payload takes more than 30 s; look at the disk");
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_IO});
  EXPECT_GT(node.segment.directory->quarantinedBytes(), 0U) << "the disk may still read it";

  work();  // too late
  EXPECT_TRUE(answers().empty()) << "nobody is told twice";
  EXPECT_EQ(node.segment.directory->quarantinedBytes(), 0U);
}

TEST_F(TierTest, PayloadsWaitBehindReadsForAsLongAsThoseGoOn) {
  const ExtentRef extent = putBoth(1);
  demote(2, put(2));
  const node::Action write = node.tierJobs.front();
  for (uint64_t request = 1; request <= 3; ++request) {
    node.tierJobs.clear();
    for (size_t i = 0; i < kTicksOfPatience - 1; ++i)
      awhile();
    EXPECT_EQ(read(1, extent), kValue);
    for (size_t i = 0; i < kTicksOfPatience; ++i)
      awhile();
  }
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  node.tierJobs.push_back(write);
  work();
  EXPECT_EQ(node.core->snapshot().tierObjects, 2U);
}

TEST_F(TierTest, WhatIsRemovedOnItsWayDoesNotArrive) {
  const ExtentRef memory = put(1);
  demote(1, memory);
  node.free(kMaster, kLeader, {{memory, {5, 1}}});
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK}) << "no record of it will be written";
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_STALE_EPOCH});
  restart();
  EXPECT_EQ(node.tierFound.restored, 0U);
}

TEST_F(TierTest, WhatIsRemovedWhileItsRecordIsWrittenIsClearedBeforeTheAnswer) {
  const ExtentRef memory = put(1);
  demote(1, memory);
  ASSERT_TRUE(node.workTier());  // the payload; its record waits
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{memory, {5, 1}}}); });
  EXPECT_TRUE(answers().empty());
  ASSERT_TRUE(node.workTier());
  EXPECT_TRUE(answers().empty()) << "a new memory would find it, so neither the free nor the copy is over";
  work();
  EXPECT_EQ(answers(), (std::vector<int32_t>{KV_STALE_EPOCH, KV_OK}));
  restart();
  EXPECT_EQ(node.tierFound.restored, 0U);
}

TEST_F(TierTest, AnotherLeaderEndsWhatTheOneBeforeAskedFor) {
  const ExtentRef memory = put(1);
  demote(1, memory);
  node.fence(kMaster, {6, 66});
  node.inbox(kMaster).clear();
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_STALE_EPOCH});
  EXPECT_EQ(node.table->objects(), 0U);
}

TEST_F(TierTest, APurgeReachesIt) {
  const ExtentRef older = putBoth(1);
  const ExtentRef newer = putBoth(2);
  purge({5, 2});
  EXPECT_EQ(read(1, older), "KV_NOT_FOUND");
  EXPECT_EQ(read(2, newer), kValue);
  EXPECT_EQ(node.table->objects(), 1U);
  restart();
  EXPECT_EQ(node.tierFound.restored, 1U);
}

TEST_F(TierTest, APurgeThatTheDiskHasNotSeenHoldsAfterARestart) {
  putBoth(1);
  purge({5, 2});
  EXPECT_TRUE(answers().empty());
  node.tierJobs.clear();
  node.restart();
  EXPECT_EQ(node.tierFound.dead, 1U);
  EXPECT_EQ(node.tierFound.restored, 0U);
  node.connectMaster(kMaster);
  node.frame(kMaster, [](wire::Bytes& out) { test::appendFence(out, 1, kLeader, 1000); });
  EXPECT_THROW(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID), std::runtime_error)
      << "nobody leads this node before the disk knows what is dead";
  work();
  EXPECT_TRUE(test::readFenceAck(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID)).accepted);
}

TEST_F(TierTest, APurgeIsAnsweredWhenTheDiskWouldShowNothingToANewMemory) {
  const ExtentRef older = putBoth(1);
  const ExtentRef newer = putBoth(2);
  purge({5, 2});
  awhile();
  EXPECT_TRUE(answers().empty());
  ask(1, older);
  EXPECT_EQ(readReadReply(node.last(kClient, test::sbe::ReadReply::SBE_TEMPLATE_ID)).status, KV_NOT_FOUND)
      << "nobody reads it meanwhile";
  ASSERT_TRUE(node.workTier());
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
  EXPECT_EQ(node.table->slot(older.slot).state, ssd::Table::State::Clearing) << "its record is still on the disk";
  losePower();
  EXPECT_EQ(node.segment.directory->purgeId(), ObjectId{});
  EXPECT_EQ(node.tierFound.restored, 1U);
  EXPECT_EQ(node.tierFound.dead, 1U);
  meet();
  EXPECT_EQ(read(1, older), "KV_NOT_FOUND");
  EXPECT_EQ(read(2, newer), kValue);
}

TEST_F(TierTest, APowerCutBeforeThatLosesThePurgeOnlyUnanswered) {
  putBoth(1);
  purge({5, 2});
  EXPECT_TRUE(answers().empty());
  losePower();
  EXPECT_EQ(node.tierFound.restored, 1U);
}

TEST_F(TierTest, AFenceThatBringsAPurgeIsAnsweredBehindIt) {
  putBoth(1);
  node.inbox(kMaster).clear();
  node.frame(kMaster, [](wire::Bytes& out) { test::appendFence(out, 8, {6, 66}, 1000, {6, 0}); });
  awhile();
  EXPECT_THROW(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID), std::runtime_error);
  ASSERT_TRUE(node.workTier());
  EXPECT_EQ(test::readFenceAck(node.last(kMaster, test::sbe::FenceAck::SBE_TEMPLATE_ID)).purgeId, (ObjectId{6, 0}));
  losePower();
  EXPECT_EQ(node.tierFound.restored, 0U);
}

TEST_F(TierTest, WhatComesToTheDiskWhileAPurgeIsWrittenIsDeadToo) {
  putBoth(1);
  const ExtentRef memory = put(2);
  demote(2, memory);
  ASSERT_TRUE(node.workTier());  // the payload; its record is on its way
  purge({5, 3});
  work();
  EXPECT_EQ(answers(), (std::vector<int32_t>{KV_OK, KV_OK})) << "of the demotion, and of the purge";
  EXPECT_EQ(node.table->objects(), 0U);
  losePower();
  EXPECT_EQ(node.tierFound.restored, 0U);
}

TEST_F(TierTest, APurgeThatTheDiskCannotTakeIsNotAcknowledgedUntilTheTierCountsNoMore) {
  const ExtentRef extent = putBoth(1);
  node.disk->failing = Status(KV_IO, "the disk is gone");
  purge({5, 2});
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_IO});
  EXPECT_EQ(node.notes.back(), "a purge is not acknowledged: the SSD failed before it had stored it");
  EXPECT_EQ(node.core->snapshot().tierProblem, "the disk is gone");
  EXPECT_EQ(node.segment.state->get().tier, 0U) << "the next life would believe it";
  EXPECT_EQ(read(1, extent), "KV_NOT_FOUND");
  purge({5, 2});
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK}) << "asked again, of a node that has no tier";
}

TEST_F(TierTest, APurgeThatTheDiskHangsOnIsNotAcknowledged) {
  putBoth(1);
  purge({5, 2});
  for (size_t i = 0; i <= kTicksOfPatience; ++i) {
    EXPECT_TRUE(answers().empty());
    awhile();
  }
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_IO});
  EXPECT_NE(node.core->snapshot().tierProblem.find("takes more than 10 s"), std::string::npos);
}

TEST_F(TierTest, WithoutMemoryForItsBufferAPurgeIsWrittenAtTheNextTick) {
  putBoth(1);
  node.disk->noMemory = true;
  purge({5, 2});
  work();
  EXPECT_TRUE(answers().empty());
  node.disk->noMemory = false;
  awhile();
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
}

/// It would be dead at the next start.
TEST_F(TierTest, NothingComesToTheDiskBelowThePurgeThatOnlyThatKnows) {
  putBoth(1);
  purge({5, 9});
  work();
  losePower();
  meet();
  demote(2, put(2));
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_STALE_EPOCH});
  putBoth(9);
}

TEST_F(TierTest, DamageOnTheDiskIsAMissAndTold) {
  const ExtentRef extent = putBoth(1);
  node.disk->bytes[node.table->slot(extent.slot).object.extent.offset + 77] ^= 1;
  EXPECT_EQ(read(1, extent), "KV_CHECKSUM");
  EXPECT_EQ(read(1, extent), "KV_NOT_FOUND");
  EXPECT_EQ(node.table->objects(), 0U);
  EXPECT_EQ(node.core->snapshot().counters.damaged, 1U);
}

TEST_F(TierTest, ADiskThatFailsCostsWhatLiesOnItAndNothingElse) {
  const ExtentRef lost = putBoth(1);
  const ExtentRef memory = put(2);
  node.inbox(kMaster).clear();
  node.disk->failing = Status(KV_IO, "the disk is gone");
  demote(2, memory);
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_IO});
  EXPECT_EQ(node.core->snapshot().tierProblem, "the disk is gone");
  EXPECT_EQ(read(1, lost), "KV_NOT_FOUND");
  EXPECT_EQ(inSnapshot(), 0U);
  EXPECT_NE(node.segment.directory->find(memory, {5, 2}), nullptr);
  demote(2, memory);
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_UNAVAILABLE});
  EXPECT_EQ(node.segment.state->get().tier, 0U) << "the next life would believe what was not freed there";
}

TEST_F(TierTest, AFailingDiskIsToldToTheMastersWithWhatTheyLose) {
  const ExtentRef lost = putBoth(1);
  node.disk->failing = Status(KV_IO, "the disk is gone");
  EXPECT_EQ(read(1, lost), "KV_NOT_FOUND");
  node.tick(600);
  const auto told = node.records(kMaster);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].records.at(0).extent, lost);
  EXPECT_FALSE(told[0].records.at(0).committed);
}

TEST_F(TierTest, AFreeThatTheDiskCannotTakeIsAnsweredBeforeItsRecordGoes) {
  const ExtentRef extent = putBoth(1);
  node.disk->failing = Status(KV_IO, "the disk is gone");
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  work();
  node.tick(600);
  const std::vector<uint16_t> types = node.types(kMaster);
  const auto ack = std::find(types.begin(), types.end(), test::sbe::CommandAck::SBE_TEMPLATE_ID);
  const auto record = std::find(types.begin(), types.end(), test::sbe::DirectoryRecords::SBE_TEMPLATE_ID);
  ASSERT_NE(ack, types.end());
  ASSERT_NE(record, types.end());
  EXPECT_LT(ack, record) << "a master takes what it still knows then for not freed";
}

TEST_F(TierTest, ADiskThatFailsIsToldBeforeWhatComesOfIt) {
  const ExtentRef extent = putBoth(1);
  node.inbox(kMaster).clear();
  node.disk->failing = Status(KV_IO, "the disk is gone");
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  work();
  const std::vector<uint16_t> types = node.types(kMaster);
  ASSERT_FALSE(types.empty());
  EXPECT_EQ(types.front(), test::sbe::NodeStats::SBE_TEMPLATE_ID)
      << "what a master acknowledges by the rest, it must note first";
  EXPECT_EQ(test::readNodeStats(node.last(kMaster, test::sbe::NodeStats::SBE_TEMPLATE_ID)).tierProblem,
            "the disk is gone");
}

/// So that each leader hears of the tier that must not be believed beside a new memory.
TEST_F(TierTest, TheNumberOfATierIsToldAlsoWhenItDoesNotWork) {
  const ExtentRef extent = putBoth(1);
  const auto told = [&](ConnectionId master) {
    node.connectMaster(master, 1);
    return test::readNodeInfo(node.last(master, test::sbe::NodeInfo::SBE_TEMPLATE_ID)).tier;
  };
  EXPECT_EQ(told(kMaster + 1), node.table->number());
  const uint32_t number = node.table->number();
  node.disk->failing = Status(KV_IO, "the disk is gone");
  EXPECT_EQ(read(1, extent), "KV_NOT_FOUND");
  node.core->closed(0, kMaster + 1);
  EXPECT_EQ(told(kMaster + 2), number);
}

TEST_F(TierTest, TheNumberOfTheTierThatTheLifeBeforeHadIsToldWhereThereIsNoneNow) {
  const uint32_t number = node.table->number();
  node.disk.reset();
  restart();
  node.connectMaster(kMaster + 1, 1);
  EXPECT_EQ(test::readNodeInfo(node.last(kMaster + 1, test::sbe::NodeInfo::SBE_TEMPLATE_ID)).tier, number);
}

TEST_F(TierTest, WithoutMemoryForItsBufferAReadIsRefusedAndTheTierStays) {
  const ExtentRef extent = putBoth(1);
  node.disk->noMemory = true;
  EXPECT_EQ(read(1, extent), "KV_OUT_OF_MEMORY");
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  node.disk->noMemory = false;
  EXPECT_EQ(read(1, extent), kValue);
}

TEST_F(TierTest, WithoutMemoryForItsBufferAnObjectStaysWhereItIs) {
  const ExtentRef memory = put(1);
  node.disk->noMemory = true;
  demote(1, memory);
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OUT_OF_MEMORY});
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
  EXPECT_EQ(node.table->objects(), 0U);
  node.disk->noMemory = false;
  demote(1, memory);
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
}

TEST_F(TierTest, WithoutMemoryForItsBufferTheTableIsWrittenAtTheNextTick) {
  const ExtentRef extent = putBoth(1);
  const auto askToFree = [&] {
    node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  };
  node.disk->noMemory = true;
  askToFree();
  work();
  EXPECT_TRUE(answers().empty());
  awhile();
  work();
  EXPECT_TRUE(answers().empty());
  node.disk->noMemory = false;
  awhile();
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
  EXPECT_EQ(node.core->snapshot().tierProblem, "");
}

TEST_F(TierTest, ATableThatFindsNoMemoryForLongEndsTheTier) {
  const ExtentRef extent = putBoth(1);
  node.disk->noMemory = true;
  node.frame(kMaster, [&](wire::Bytes& out) { test::appendFree(out, 7, kLeader, {{extent, {5, 1}}}); });
  for (size_t i = 0; i <= kTicksOfPatience + 1; ++i) {
    work();
    awhile();
  }
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_IO});
  EXPECT_EQ(node.core->snapshot().tierProblem, "a write of its table takes more than 10 s; look at the disk");
}

TEST_F(TierTest, RefusalsNameWhatIsWrong) {
  const ExtentRef memory = put(1);
  node.inbox(kMaster).clear();
  demote(1, {0, memory.slot, memory.generation + 1});
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_NOT_FOUND});
  demote(1, memory, {4, 44});
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_STALE_EPOCH});
  demote(1, memory);
  demote(1, memory);
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_BUSY});
  work();
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_OK});
  demote(1, memory);
  EXPECT_EQ(answers(), std::vector<int32_t>{KV_EXISTS});
}

}  // namespace
}  // namespace kvpool::node
