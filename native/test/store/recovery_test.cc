// SPDX-License-Identifier: Apache-2.0
// What a restart makes of damaged bytes: nothing wrong is ever restored, what is whole is.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include "seed.h"
#include "store/segment_in_memory.h"

namespace kvpool::store {
namespace {

using test::SegmentInMemory;

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest() {
    for (uint64_t i = 0; i < 3; ++i) {
      extents.push_back(segment.put({1, i + 1}, "key-" + std::to_string(i), "value-" + std::to_string(i)));
    }
  }
  SegmentInMemory segment;
  std::vector<ExtentRef> extents;
};

TEST_F(RecoveryTest, EveryFlippedByteOfARecordDropsThatRecordOnly) {
  const test::ZeroedBytes whole = segment.memory;
  for (size_t byte = 0; byte < sizeof(DirectoryRecord); ++byte) {
    segment.memory = whole;
    segment.memory[recordOffset(extents[1].slot) + byte] ^= 0x40;
    const Recovery recovery = segment.open();
    ASSERT_EQ(recovery.restored, 2u) << "byte " << byte;
    ASSERT_EQ(recovery.torn, 1u) << "byte " << byte;
    ASSERT_EQ(segment.get(extents[1], {1, 2}), std::nullopt);
    ASSERT_EQ(segment.get(extents[0], {1, 1}), "value-0");
    ASSERT_EQ(segment.open().dropped(), 0u) << "cleaned up by the first recovery";
  }
}

TEST_F(RecoveryTest, AWholeRecordThatCannotBeIsDropped) {
  const test::ZeroedBytes whole = segment.memory;
  const uint64_t dataEnd = segment.geometry.dataOffset + segment.geometry.dataBytes;
  const std::vector<std::pair<const char*, std::function<void(DirectoryRecord&)>>> damages = {
      {"unknown state", [](DirectoryRecord& r) { r.state = 4; }},
      {"a tombstone with a payload", [](DirectoryRecord& r) { r.state = 3; }},
      {"generation of the future", [](DirectoryRecord& r) { r.generation = uint64_t{1} << 40; }},
      {"offset in the directory", [](DirectoryRecord& r) { r.offset = kDirectoryOffset; }},
      {"offset not aligned", [](DirectoryRecord& r) { r.offset += 8; }},
      {"offset behind the end", [&](DirectoryRecord& r) { r.offset = dataEnd; }},
      {"offset that wraps", [](DirectoryRecord& r) { r.offset = UINT64_MAX - 63; }},
      {"extent too short", [](DirectoryRecord& r) { r.extentBytes = 64; }},
      {"extent too long", [](DirectoryRecord& r) { r.extentBytes += 64; }},
      {"payload too long", [](DirectoryRecord& r) { r.payloadLength = UINT64_MAX; }},
      {"no key", [](DirectoryRecord& r) { r.keyLength = 0; }},
      {"key too long", [](DirectoryRecord& r) { r.keyLength = 5000; }},
      {"key checksum", [](DirectoryRecord& r) { r.keyCrc ^= 1; }},
  };
  for (const auto& [name, damage] : damages) {
    segment.memory = whole;
    DirectoryRecord record = segment.record(extents[1].slot);
    damage(record);
    segment.forge(extents[1].slot, record);
    const Recovery recovery = segment.open();
    EXPECT_EQ(recovery.restored, 2u) << name;
    EXPECT_EQ(recovery.invalid, 1u) << name;
  }
}

TEST_F(RecoveryTest, WhatIsOfAnEpochThatTheSegmentNeverObeyedIsDropped) {
  ASSERT_TRUE(segment.directory->keepTombstones(std::vector<Tombstone>{{{1, 9}, "removed"}}).ok());
  DirectoryRecord object = segment.record(extents[1].slot);
  object.objectEpoch = 2;
  segment.forge(extents[1].slot, object);
  DirectoryRecord tombstone = segment.record(3);
  ASSERT_EQ(tombstone.state, static_cast<uint32_t>(SlotState::Tombstone));
  tombstone.objectEpoch = kEpochMax - 1;
  segment.forge(3, tombstone);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.above, 2u);
  EXPECT_EQ(recovery.dropped(), 2u);
  EXPECT_EQ(recovery.restored, 2u);
  EXPECT_EQ(recovery.tombstones, 0u);
  EXPECT_EQ(segment.directory->highestObject(), (ObjectId{1, 3}));
  EXPECT_EQ(segment.open().dropped(), 0u) << "cleaned up by the first recovery";
}

TEST_F(RecoveryTest, AKeyThatChangedUnderItsRecordIsDropped) {
  const DirectoryRecord record = segment.record(extents[2].slot);
  segment.memory[record.offset] ^= 1;
  EXPECT_EQ(segment.open().invalid, 1u);
}

TEST_F(RecoveryTest, OverlappingExtentsAreAllDropped) {
  DirectoryRecord first = segment.record(extents[0].slot);
  DirectoryRecord other = segment.record(extents[1].slot);
  other.offset = first.offset;
  other.keyCrc = first.keyCrc;
  segment.forge(extents[1].slot, other);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.overlapping, 2u);
  EXPECT_EQ(recovery.restored, 1u);
  EXPECT_EQ(segment.get(extents[2], {1, 3}), "value-2");
}

TEST_F(RecoveryTest, OneObjectCannotBeThereTwice) {
  DirectoryRecord twin = segment.record(extents[1].slot);
  twin.objectCounter = 1;
  segment.forge(extents[1].slot, twin);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.invalid, 1u);
  EXPECT_EQ(segment.get(extents[0], {1, 1}), "value-0");
}

TEST_F(RecoveryTest, ARecordCopiedToAnotherSlotIsTornThere) {
  const DirectoryRecord record = segment.record(extents[0].slot);
  std::memcpy(segment.memory.data() + recordOffset(900), &record, sizeof record);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.torn, 1u);
  EXPECT_EQ(recovery.restored, 3u);
  EXPECT_TRUE(segment.directory->reserve({5, 5}, "slots below are usable", 10).ok());
}

TEST_F(RecoveryTest, AReservationOfADeadWriterIsUndone) {
  ASSERT_TRUE(segment.directory->reserve({1, 9}, "never committed", 100'000).ok());
  const uint64_t used = segment.directory->usedBytes();
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.unfinished, 1u);
  EXPECT_EQ(recovery.dropped(), 0u);
  EXPECT_LT(segment.directory->usedBytes(), used);
}

TEST_F(RecoveryTest, RandomDamageNeverRestoresWrongBytes) {
  const uint64_t seed = test::seed(6);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  const test::ZeroedBytes whole = segment.memory;
  for (int round = 0; round < 200; ++round) {
    segment.memory = whole;
    for (uint64_t i = 0; i < 1 + dice.below(30); ++i) {
      segment.memory[kDirectoryOffset + dice.below(1024)] = static_cast<uint8_t>(dice.next());
    }
    const Recovery recovery = segment.open();
    ASSERT_EQ(recovery.restored, segment.directory->objects());
    for (uint64_t i = 0; i < 3; ++i) {
      const std::optional<std::string> value = segment.get(extents[i], {1, i + 1});
      ASSERT_EQ(value.value_or("value-" + std::to_string(i)), "value-" + std::to_string(i));
    }
  }
}

/// Damaged in many places, so that each thread has something of everything to report.
TEST_F(RecoveryTest, HowManyThreadsReadItMakesNoDifference) {
  const uint64_t seed = test::seed(7);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (uint64_t i = 3; i < 200; ++i)
    segment.put({1, i + 1}, "key-" + std::to_string(i), "value-" + std::to_string(i));
  ASSERT_TRUE(segment.directory->reserve({1, 900}, "never committed", 100).ok());
  for (int i = 0; i < 40; ++i)
    segment.memory[recordOffset(static_cast<uint32_t>(dice.below(200))) + dice.below(sizeof(DirectoryRecord))] ^= 1;
  const test::ZeroedBytes damaged = segment.memory;
  const Recovery alone = segment.open();
  const test::ZeroedBytes mended = segment.memory;
  const uint64_t idsHash = segment.directory->idsHash();
  EXPECT_GT(alone.restored, 150u);
  EXPECT_GT(alone.torn, 10u);

  for (const unsigned threads : {0U, 2U, 3U, 64U, 1000U}) {
    segment.memory = damaged;
    const Recovery together = segment.open(threads);
    EXPECT_EQ(together.restored, alone.restored) << threads;
    EXPECT_EQ(together.torn, alone.torn) << threads;
    EXPECT_EQ(together.invalid, alone.invalid) << threads;
    EXPECT_EQ(together.unfinished, alone.unfinished) << threads;
    EXPECT_EQ(segment.directory->idsHash(), idsHash) << threads;
    EXPECT_TRUE(segment.memory == mended) << threads;
  }
}

/// The most memory this process had since forgetPeak(), and what it has now, in KiB.
uint64_t statusKiB(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1));
  }
  throw std::runtime_error("no " + name);
}
void forgetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// A limit of memory follows from what is in a segment, so a start may not ask for what could be.
TEST(RecoveryMemoryTest, SlotsThatAreFreeTakeNone) {
  SegmentInMemory segment(uint64_t{4} << 30);
  ASSERT_GT(segment.geometry.slots * sizeof(Slot), uint64_t{64} << 20);
  const ExtentRef freed = segment.put({1, 1}, "freed", "value");
  const ExtentRef kept = segment.put({1, 2}, "kept", "value");
  const ExtentRef last = segment.put({1, 3}, "last", "value");
  ASSERT_TRUE(segment.directory->free(freed, {1, 1}));
  ASSERT_TRUE(segment.directory->free(last, {1, 3}));
  for (const unsigned threads : {1U, 2U}) {
    forgetPeak();
    const uint64_t before = statusKiB("VmRSS");
    EXPECT_EQ(segment.open(threads).restored, 1U);
    EXPECT_LT(statusKiB("VmHWM"), before + (uint64_t{32} << 10)) << threads;
    EXPECT_EQ(segment.directory->slotsTouched(), kept.slot + 1);
    EXPECT_EQ(segment.get(kept, {1, 2}), "value");
  }
  EXPECT_EQ(segment.put({1, 4}, "next", "value").slot, freed.slot);
  EXPECT_EQ(segment.put({1, 5}, "one more", "value").slot, last.slot);
  EXPECT_EQ(segment.open().restored, 3U);
}

TEST(RecoveryThreadsTest, MoreThanOneOnlyWhereThatPays) {
  EXPECT_EQ(recoveryThreads(0, 1 << 20), 1u);
  EXPECT_EQ(recoveryThreads(2, 1000), 1u);
  EXPECT_EQ(recoveryThreads(2, 1 << 20), 2u);
  EXPECT_EQ(recoveryThreads(64, 1 << 17), 2u);
  EXPECT_EQ(recoveryThreads(64, 1 << 24), 8u);
}

}  // namespace
}  // namespace kvpool::store
