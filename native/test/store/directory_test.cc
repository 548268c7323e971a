// SPDX-License-Identifier: Apache-2.0
#include "store/directory.h"

#include <gtest/gtest.h>

#include <map>

#include "seed.h"
#include "store/segment_in_memory.h"

namespace kvpool::store {
namespace {

using test::SegmentInMemory;

TEST(Directory, AnObjectIsThereFromCommitToFree) {
  SegmentInMemory segment;
  Directory& directory = *segment.directory;
  const Result<uint32_t> slot = directory.reserve({1, 1}, "key", 5);
  ASSERT_TRUE(slot.ok());
  const ExtentRef extent{0, slot.value(), directory.slot(slot.value()).generation};
  EXPECT_EQ(directory.find(extent, {1, 1}), nullptr) << "reserved is not committed";
  EXPECT_EQ(directory.usedBytes(), 128u);
  EXPECT_EQ(directory.objects(), 0u);
  directory.commit(slot.value(), 7);
  ASSERT_NE(directory.find(extent, {1, 1}), nullptr);
  EXPECT_EQ(directory.key(*directory.find(extent, {1, 1})), "key");
  EXPECT_EQ(directory.objects(), 1u);
  EXPECT_EQ(directory.find(extent, {1, 2}), nullptr);
  EXPECT_EQ(directory.find({0, extent.slot, extent.generation + 1}, {1, 1}), nullptr);
  EXPECT_EQ(directory.find({1, extent.slot, extent.generation}, {1, 1}), nullptr);
  EXPECT_EQ(directory.find({0, UINT32_MAX, extent.generation}, {1, 1}), nullptr);
  EXPECT_FALSE(directory.free(extent, {1, 2}));
  EXPECT_TRUE(directory.free(extent, {1, 1}));
  EXPECT_FALSE(directory.free(extent, {1, 1}));
  EXPECT_EQ(directory.usedBytes(), 0u);
}

TEST(Directory, RefusesWhatCannotBe) {
  SegmentInMemory segment;
  Directory& directory = *segment.directory;
  const auto code = [&](const ObjectId& id, const std::string& key, uint64_t length) {
    return directory.reserve(id, key, length).status().code();
  };
  EXPECT_EQ(code({1, 1}, "", 1), KV_INVALID_KEY);
  EXPECT_EQ(code({1, 1}, std::string(4097, 'k'), 1), KV_INVALID_KEY);
  EXPECT_EQ(code({1, 1}, "\xC3(", 1), KV_INVALID_KEY);
  EXPECT_EQ(code({1, 1}, "key", segment.geometry.dataBytes), KV_TOO_LARGE);
  EXPECT_EQ(code({1, 1}, "key", UINT64_MAX), KV_TOO_LARGE);
  EXPECT_EQ(code({1, 1}, "key", UINT64_MAX - 70), KV_TOO_LARGE);
  const uint64_t room = segment.geometry.dataBytes - 4096;
  const uint64_t most = room - sumCount(room) * kSumBytes;
  EXPECT_EQ(code({1, 1}, std::string(4096, 'k'), room), KV_TOO_LARGE) << "its sums need room too";
  EXPECT_EQ(code({1, 1}, std::string(4096, 'k'), most), KV_OK);
  EXPECT_EQ(code({1, 2}, "key", 0), KV_NO_SPACE);
  EXPECT_EQ(code({1, 1}, "key", 0), KV_BUSY);
  directory.commit(0, 0);
  EXPECT_EQ(code({1, 1}, "key", 0), KV_EXISTS);
}

TEST(Directory, SlotsCanRunOutBeforeBytes) {
  SegmentInMemory segment;
  for (uint64_t i = 0; i < segment.geometry.slots; ++i) {
    const Result<uint32_t> slot = segment.directory->reserve({1, i}, "k", 0);
    ASSERT_TRUE(slot.ok()) << i;
  }
  const Result<uint32_t> refused = segment.directory->reserve({2, 0}, "k", 0);
  EXPECT_EQ(refused.status().code(), KV_NO_SPACE);
  EXPECT_NE(refused.status().text().find(std::to_string(segment.geometry.slots)), std::string::npos);
  segment.directory->abort(5);
  EXPECT_EQ(segment.directory->reserve({2, 0}, "k", 0).value(), 5u);
}

TEST(Directory, PinnedBytesAreNotReusedBeforeTheLastPinIsGone) {
  SegmentInMemory segment;
  Directory& directory = *segment.directory;
  const uint64_t half = segment.geometry.dataBytes / 2 + 4096;
  const std::string value(half, 'v');
  const ExtentRef extent = segment.put({1, 1}, "key", value);
  directory.pin(extent.generation);
  directory.pin(extent.generation);
  ASSERT_TRUE(directory.free(extent, {1, 1}));
  EXPECT_EQ(directory.find(extent, {1, 1}), nullptr) << "freed at once for everyone else";
  EXPECT_EQ(directory.usedBytes(), 0u);
  EXPECT_GT(directory.quarantinedBytes(), half);
  EXPECT_EQ(directory.reserve({1, 2}, "key", half).status().code(), KV_NO_SPACE);
  directory.unpin(extent.generation);
  EXPECT_EQ(directory.reserve({1, 2}, "key", half).status().code(), KV_NO_SPACE);
  directory.unpin(extent.generation);
  EXPECT_EQ(directory.quarantinedBytes(), 0u);
  EXPECT_TRUE(directory.reserve({1, 2}, "key", half).ok());
  EXPECT_THROW(directory.unpin(extent.generation), std::logic_error);
}

TEST(Directory, AReusedSlotIsAnotherExtent) {
  SegmentInMemory segment;
  const ExtentRef first = segment.put({1, 1}, "key", "one");
  segment.directory->pin(first.generation);
  ASSERT_TRUE(segment.directory->free(first, {1, 1}));
  const ExtentRef second = segment.put({1, 2}, "key", "two");
  EXPECT_EQ(second.slot, first.slot);
  EXPECT_NE(second.generation, first.generation);
  EXPECT_EQ(segment.get(first, {1, 1}), std::nullopt);
  EXPECT_EQ(segment.get(second, {1, 2}), "two");
  segment.directory->unpin(first.generation);
  EXPECT_EQ(segment.get(second, {1, 2}), "two");
}

/// What a client does that maps the file: the record before the copy and after it must be the one it was told about.
TEST(Directory, AReaderOfTheFileSeesThatItsExtentWasFreedOrTakenByAnother) {
  test::SegmentInMemory segment;
  const ExtentRef extent = segment.put({1, 1}, "key", "value");
  const auto stillThere = [&] {
    const std::optional<DirectoryRecord> record = readIntactRecord(segment.memory.data(), extent.slot);
    return record && record->state == static_cast<uint32_t>(SlotState::Committed) &&
           record->generation == extent.generation;
  };
  EXPECT_TRUE(stillThere());
  ASSERT_TRUE(segment.directory->free(extent, {1, 1}));
  EXPECT_FALSE(stillThere()) << "at once, though the bytes are still the old ones";
  const Result<uint32_t> next = segment.directory->reserve({1, 2}, "key", 5);
  ASSERT_EQ(next.value(), extent.slot);
  EXPECT_FALSE(stillThere());
  segment.directory->commit(next.value(), crc32c(std::string_view("other")));
  EXPECT_FALSE(stillThere()) << "upsert: the same key, place and length, another generation";
}

TEST(Directory, GenerationsNeverComeBackAcrossLives) {
  SegmentInMemory segment;
  uint64_t last = 0;
  for (int life = 0; life < 5; ++life) {
    for (uint64_t i = 0; i < 5000; ++i) {
      const ExtentRef extent = segment.put({1, i}, "key", "");
      ASSERT_GT(extent.generation, last);
      last = extent.generation;
      ASSERT_TRUE(segment.directory->free(extent, {1, i}));
    }
    segment.open();
  }
}

/// Random operations and restarts, compared with a map.
TEST(Directory, BehavesAsASimpleModel) {
  const uint64_t seed = test::seed(5);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  SegmentInMemory segment;
  segment.obey(3);
  struct Kept {
    ExtentRef extent;
    std::string key;
    std::string value;
  };
  std::map<ObjectId, Kept> model;
  uint64_t counter = 0;
  for (int step = 0; step < 4000; ++step) {
    const uint64_t kind = dice.below(100);
    if (kind < 60) {
      const ObjectId id{1 + dice.below(3), ++counter};
      const std::string key = "key-" + std::string(dice.below(200), 'k') + std::to_string(counter);
      const std::string value(dice.below(dice.oneIn(20) ? 2'000'000 : 20'000), static_cast<char>('a' + counter % 26));
      const Result<uint32_t> slot = segment.directory->reserve(id, key, value.size());
      if (!slot.ok()) {
        ASSERT_EQ(slot.status().code(), KV_NO_SPACE);
        continue;
      }
      if (dice.oneIn(10)) {
        segment.directory->abort(slot.value());
        continue;
      }
      const Slot& reserved = segment.directory->slot(slot.value());
      segment.directory->commit(slot.value(), segment.storePayload(reserved.payloadOffset(), value));
      model[id] = {{0, slot.value(), reserved.generation}, key, value};
    } else if (kind < 98 && !model.empty()) {
      auto victim = model.lower_bound({1 + dice.below(3), dice.below(counter + 1)});
      if (victim == model.end()) victim = model.begin();
      ASSERT_TRUE(segment.directory->free(victim->second.extent, victim->first));
      model.erase(victim);
    } else {
      const Recovery recovery = segment.open();
      ASSERT_EQ(recovery.restored, model.size());
      ASSERT_EQ(recovery.dropped() + recovery.unfinished, 0u);
    }
    ASSERT_EQ(segment.directory->objects(), model.size());
  }
  for (const auto& [id, kept] : model) {
    ASSERT_EQ(segment.get(kept.extent, id), kept.value);
    ASSERT_EQ(segment.directory->key(*segment.directory->find(kept.extent, id)), kept.key);
  }
}

}  // namespace
}  // namespace kvpool::store
