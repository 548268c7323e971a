// SPDX-License-Identifier: Apache-2.0
// Removal that holds: tombstones and the purge id, and what a restart makes of them.
#include <gtest/gtest.h>

#include "store/segment_in_memory.h"

namespace kvpool::store {
namespace {

using test::SegmentInMemory;

class TombstonesTest : public ::testing::Test {
 protected:
  ExtentRef keepTombstones(const ObjectId& id, const std::string& key) {
    segment.obey(id.epoch);
    const Result<KeptTombstones> kept = segment.directory->keepTombstones(std::vector<Tombstone>{{id, key}});
    EXPECT_TRUE(kept.ok()) << kept.status().text();
    if (!kept.ok() || kept.value().made.empty()) return {};
    const uint32_t slot = kept.value().made.front();
    return {0, slot, segment.directory->slot(slot).generation};
  }
  int32_t reserveStatus(const ObjectId& id, const std::string& key) {
    const Result<uint32_t> slot = segment.directory->reserve(id, key, 8);
    if (!slot.ok()) return slot.status().code();
    segment.directory->abort(slot.value());
    return KV_OK;
  }
  void purge(const ObjectId& id) {
    segment.state->update([&](SegmentState& state) {
      state.purgeEpoch = id.epoch;
      state.purgeCounter = id.counter;
    });
  }
  SegmentInMemory segment;
};

TEST_F(TombstonesTest, CoverTheirKeyUpToTheirIdAcrossRestartsUntilLifted) {
  const ExtentRef extent = keepTombstones({2, 5}, "key");
  for (int life = 0; life < 3; ++life) {
    EXPECT_TRUE(segment.directory->removed({2, 5}, "key"));
    EXPECT_FALSE(segment.directory->removed({2, 6}, "key"));
    EXPECT_FALSE(segment.directory->removed({2, 5}, "other"));
    EXPECT_EQ(reserveStatus({1, 9}, "key"), KV_STALE_EPOCH);
    EXPECT_EQ(reserveStatus({3, 1}, "key"), KV_OK);
    EXPECT_EQ(segment.directory->tombstones(), 1u);
    EXPECT_EQ(segment.directory->objects(), 0u);
    EXPECT_EQ(segment.directory->idsHash(), 0u);
    EXPECT_EQ(segment.directory->usedBytes(), kExtentAlignment);
    EXPECT_EQ(segment.directory->highestObject(), (ObjectId{2, 5}));
    EXPECT_EQ(segment.directory->find(extent, {2, 5}), nullptr) << "a tombstone is nothing to read";
    const Recovery recovery = segment.open();
    EXPECT_EQ(recovery.tombstones, 1u);
    EXPECT_EQ(recovery.restored + recovery.dropped(), 0u);
  }
  EXPECT_TRUE(segment.directory->free(extent, {2, 5}));
  EXPECT_FALSE(segment.directory->removed({2, 5}, "key"));
  EXPECT_EQ(segment.directory->usedBytes(), 0u);
  EXPECT_EQ(segment.open().tombstones, 0u);
}

TEST_F(TombstonesTest, LieBesideTheObjectTheyName) {
  const ExtentRef object = segment.put({2, 5}, "key", "value");
  const ExtentRef tombstone = keepTombstones({2, 5}, "key");
  EXPECT_NE(object.slot, tombstone.slot);
  EXPECT_EQ(segment.directory->slotsUsed(), 2u);
  EXPECT_TRUE(segment.directory->free(tombstone, {2, 5}));
  EXPECT_EQ(segment.get(object, {2, 5}), "value") << "lifting a tombstone frees no object";
  keepTombstones({2, 5}, "key");
  EXPECT_TRUE(segment.directory->free(object, {2, 5}));
  EXPECT_TRUE(segment.directory->removed({2, 5}, "key")) << "freeing the object lifts no tombstone";
}

TEST_F(TombstonesTest, AKeyKeepsOnlyItsNewest) {
  const ExtentRef older = keepTombstones({2, 5}, "key");
  EXPECT_EQ(keepTombstones({2, 4}, "key"), ExtentRef{}) << "covered already";
  EXPECT_EQ(keepTombstones({2, 5}, "key"), ExtentRef{}) << "asked again";
  const Result<KeptTombstones> kept =
      segment.directory->keepTombstones(std::vector<Tombstone>{{{3, 2}, "key"}, {{3, 1}, "key"}, {{3, 2}, "key"}});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept.value().made.size(), 1u);
  ASSERT_EQ(kept.value().superseded.size(), 1u);
  EXPECT_EQ(kept.value().superseded.front().extent, older);
  EXPECT_EQ(segment.directory->tombstones(), 1u);
  EXPECT_EQ(segment.directory->usedBytes(), kExtentAlignment);
  EXPECT_TRUE(segment.directory->removed({3, 2}, "key"));
}

TEST_F(TombstonesTest, AllOfAMessageOrNone) {
  const std::string large(4000, 'k');
  std::vector<std::string> keys;
  while (segment.directory->largestFreeBytes() >= extentBytesFor(4000, 400'000)) {
    keys.push_back("filler-" + std::to_string(keys.size()));
    segment.put({1, keys.size()}, keys.back(), std::string(400'000, 'v'));
  }
  uint64_t counter = 1000;
  while (segment.directory->largestFreeBytes() >= 3 * 4032) {
    segment.put({1, ++counter}, "small-" + std::to_string(counter), std::string(4000, 'v'));
  }
  std::vector<std::string> many;
  for (int i = 0; i < 64; ++i)
    many.push_back(large + std::to_string(i));
  std::vector<Tombstone> tombstones;
  for (const std::string& key : many)
    tombstones.push_back({{2, 1}, key});
  const uint64_t used = segment.directory->usedBytes();
  const Result<KeptTombstones> full = segment.directory->keepTombstones(tombstones);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.status().code(), KV_NO_SPACE);
  EXPECT_EQ(segment.directory->tombstones(), 0u);
  EXPECT_EQ(segment.directory->usedBytes(), used);
  const Result<KeptTombstones> invalid =
      segment.directory->keepTombstones(std::vector<Tombstone>{{{2, 1}, "fine"}, {{2, 2}, "\xFF"}});
  ASSERT_FALSE(invalid.ok());
  EXPECT_EQ(invalid.status().code(), KV_INVALID_KEY);
  EXPECT_EQ(segment.directory->tombstones(), 0u);
  EXPECT_EQ(segment.open().unfinished, 0u) << "what was taken back is free in the file too";
}

TEST_F(TombstonesTest, OfTwoAfterACrashTheNewerStays) {
  for (const bool newerFirst : {false, true}) {
    SegmentInMemory fresh;
    fresh.obey(3);
    const ObjectId ids[] = {newerFirst ? ObjectId{3, 2} : ObjectId{3, 1}, newerFirst ? ObjectId{3, 1} : ObjectId{3, 2}};
    ASSERT_TRUE(fresh.directory->keepTombstones(std::vector<Tombstone>{{ids[0], "key-a"}, {ids[1], "key-b"}}).ok());
    // The second one's key becomes that of the first, as if the life had ended between the two stores of replacing.
    DirectoryRecord record = fresh.record(1);
    std::memcpy(fresh.memory.data() + record.offset, "key-a", 5);
    record.keyCrc = crc32c(std::string_view("key-a"));
    fresh.forge(1, record);
    const Recovery recovery = fresh.open();
    EXPECT_EQ(recovery.tombstones, 1u);
    EXPECT_EQ(recovery.dropped(), 0u) << "a crash is no damage";
    EXPECT_TRUE(fresh.directory->removed({3, 2}, "key-a"));
    EXPECT_EQ(fresh.directory->usedBytes(), kExtentAlignment);
    EXPECT_EQ(fresh.open().tombstones, 1u);
  }
}

TEST_F(TombstonesTest, ADamagedOneIsDroppedAndCounted) {
  const ExtentRef extent = keepTombstones({2, 5}, "key");
  const test::ZeroedBytes whole = segment.memory;
  for (size_t byte = 0; byte < sizeof(DirectoryRecord); ++byte) {
    segment.memory = whole;
    segment.memory[recordOffset(extent.slot) + byte] ^= 0x20;
    const Recovery recovery = segment.open();
    ASSERT_EQ(recovery.torn, 1u) << "byte " << byte;
    ASSERT_EQ(recovery.tombstones, 0u);
  }
  segment.memory = whole;
  segment.memory[segment.record(extent.slot).offset] ^= 1;
  EXPECT_EQ(segment.open().invalid, 1u) << "its key is checked";
  segment.memory = whole;
  DirectoryRecord record = segment.record(extent.slot);
  record.payloadLength = 64;
  record.extentBytes += 64;
  segment.forge(extent.slot, record);
  EXPECT_EQ(segment.open().invalid, 1u) << "a tombstone has no payload";
}

TEST_F(TombstonesTest, ARestartDropsWhatIsBelowThePurgeId) {
  segment.put({1, 1}, "old", "value");
  const ExtentRef kept = segment.put({2, 1}, "new", "value");
  keepTombstones({1, 7}, "kept");
  purge({2, 1});
  EXPECT_EQ(reserveStatus({2, 0}, "late"), KV_STALE_EPOCH);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.purged, 2u);
  EXPECT_EQ(recovery.restored, 1u);
  EXPECT_EQ(recovery.restoredHash, idHash({2, 1}));
  EXPECT_EQ(recovery.tombstones, 0u);
  EXPECT_EQ(recovery.dropped(), 0u);
  EXPECT_EQ(segment.get(kept, {2, 1}), "value");
  EXPECT_EQ(segment.open().purged, 0u) << "their records are free in the file";
}

TEST(IdsHash, IsTheSumOverTheObjectsThereInAnyOrder) {
  SegmentInMemory one;
  SegmentInMemory other;
  std::vector<ExtentRef> extents;
  for (uint64_t i = 1; i <= 50; ++i)
    extents.push_back(one.put({1 + i % 3, i}, "key-" + std::to_string(i), "value"));
  for (uint64_t i = 50; i >= 1; --i)
    other.put({1 + i % 3, i}, "other-" + std::to_string(i), "");
  EXPECT_EQ(one.directory->idsHash(), other.directory->idsHash());
  EXPECT_NE(one.directory->idsHash(), 0u);
  const uint64_t whole = one.directory->idsHash();
  ASSERT_TRUE(one.directory->free(extents[6], {2, 7}));
  EXPECT_EQ(one.directory->idsHash(), whole - idHash({2, 7}));
  EXPECT_EQ(one.open().restoredHash, whole - idHash({2, 7}));
  EXPECT_EQ(idHash({0, 1}), 0x5692161D100B05E5ULL) << "the finalizer of splitmix64";
}

TEST(Retention, IsKeptAcrossRestarts) {
  SegmentInMemory segment;
  segment.obey(1);
  const Retention retention{kPinSoft | kPinHard, 1234, 0xABCDEF0123456789};
  const Result<uint32_t> slot = segment.directory->reserve({1, 1}, "key", 0, retention);
  ASSERT_TRUE(slot.ok());
  segment.directory->commit(slot.value(), 0);
  ASSERT_EQ(segment.open().restored, 1u);
  EXPECT_EQ(segment.directory->slot(slot.value()).retention, retention);
  DirectoryRecord record = segment.record(slot.value());
  record.pins = 7;
  segment.forge(slot.value(), record);
  EXPECT_EQ(segment.open().invalid, 1u);
}

}  // namespace
}  // namespace kvpool::store
