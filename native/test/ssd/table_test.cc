// SPDX-License-Identifier: Apache-2.0
#include "ssd/table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/crc32c.h"
#include "seed.h"
#include "ssd/device_in_memory.h"
#include "ssd/sealed_device.h"
#include "ssd/small_tier.h"
#include "ssd/tier_file.h"
#include "ssd/workers.h"

namespace kvpool::ssd {
namespace {

using test::DeviceInMemory;
using test::kGeometry;
using test::kHeader;
using test::kIdentity;
using test::kNumber;

const Table::FateOf kNobodyIsDead = [](const ObjectId&, std::string_view) { return Table::Fate::Alive; };

/// What the disk says of itself; a disk of zeros becomes a tier.
TierHeader headerOn(DeviceInMemory& disk) {
  TierHeader header = kHeader;
  const TierCheck check = checkTier(std::span(disk.bytes).first(kTableOffset), disk.bytes.size(), kIdentity);
  if (check.verdict == TierVerdict::Fits) return check.header;
  EXPECT_EQ(check.verdict, TierVerdict::Empty) << check.why;
  EXPECT_TRUE(formatTier(disk, header).ok());
  return header;
}

/// A table over a disk that does at once what the table wants.
struct Tier {
  explicit Tier(DeviceInMemory& disk) : Tier(disk, disk) {}
  /// `seen`: the disk as a tier sees it.
  Tier(DeviceInMemory& disk, Device& seen) : device(seen), table(headerOn(disk)) {
    found = loadTable(device, table, kNobodyIsDead).value();
  }

  /// Until nothing is dirty; false when the power went out.
  bool store(Table::Changes* all = nullptr) {
    while (table.isDirty()) {
      auto batch = std::make_shared<const Table::Batch>(table.takeDirty(2));
      if (!perform(device, StoreBlocks{batch}).status.ok()) return false;
      Table::Changes changes = table.stored(*batch);
      if (all != nullptr) {
        all->readable.insert(all->readable.end(), changes.readable.begin(), changes.readable.end());
        all->freed.insert(all->freed.end(), changes.freed.begin(), changes.freed.end());
      }
    }
    return true;
  }
  ExtentRef extentOf(uint32_t slot) const { return {kTierSegment, slot, table.slot(slot).object.generation}; }
  bool writePayload(uint32_t slot, const std::string& value) {
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(value.data()), value.size());
    return perform(device, WritePayload{1, bytes, table.slot(slot).object.extent.offset, crc32c(value)}).status.ok();
  }
  ExtentRef put(const ObjectId& id, const std::string& key, const std::string& value) {
    const Result<uint32_t> slot = table.begin(id, key, value.size(), crc32c(value), {});
    EXPECT_TRUE(slot.ok()) << slot.status().text();
    EXPECT_TRUE(writePayload(slot.value(), value));
    table.written(slot.value());
    EXPECT_TRUE(store());
    return extentOf(slot.value());
  }
  std::optional<std::string> get(const ExtentRef& extent, const ObjectId& id) {
    const Table::Slot* slot = table.find(extent, id);
    if (slot == nullptr) return std::nullopt;
    const Described& object = slot->object;
    const Done done = perform(device, ReadPayload{1, object.extent.offset, object.payloadLength, object.payloadCrc});
    if (!done.status.ok()) return done.status.text();
    return std::string(reinterpret_cast<const char*>(done.payload.bytes().data()), object.payloadLength);
  }

  Device& device;
  Table table;
  TierRecovery found;
};

/// A disk that stays when the device that was given it goes.
class Lent final : public Device {
 public:
  explicit Lent(Device& disk) : disk_(disk) {}
  Status read(std::span<const Piece> pieces) override { return disk_.read(pieces); }
  Status write(std::span<const Piece> pieces) override { return disk_.write(pieces); }
  Status sync() override { return disk_.sync(); }

 private:
  Device& disk_;
};

TEST(TierTable, AnObjectIsReadableOnlyWhenItsRecordIsOnTheDevice) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  const uint32_t slot = tier.table.begin({1, 1}, "a", 5, crc32c("hello"), {}).value();
  const ExtentRef extent = tier.extentOf(slot);
  EXPECT_EQ(tier.table.begin({1, 1}, "a", 5, 0, {}).status().code(), KV_BUSY);
  ASSERT_TRUE(tier.writePayload(slot, "hello"));
  EXPECT_FALSE(tier.table.isDirty());
  tier.table.written(slot);
  EXPECT_EQ(tier.get(extent, {1, 1}), std::nullopt);
  Table::Changes changes;
  ASSERT_TRUE(tier.store(&changes));
  EXPECT_EQ(changes.readable, std::vector<uint32_t>{slot});
  EXPECT_EQ(tier.get(extent, {1, 1}), "hello");
  EXPECT_EQ(tier.get(extent, {1, 2}), std::nullopt);
  EXPECT_EQ(tier.table.begin({1, 1}, "a", 5, 0, {}).status().code(), KV_EXISTS);

  Tier after(disk);
  EXPECT_EQ(after.found.restored, 1U);
  EXPECT_EQ(after.get(extent, {1, 1}), "hello");
}

TEST(TierTable, BlocksAreUsedAgainOnlyAfterTheDeviceKnowsAndTheLastReaderHasGone) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  const ExtentRef extent = tier.put({1, 1}, "a", std::string(kGeometry.dataBytes, 'a'));
  tier.table.pin(extent.generation);
  EXPECT_TRUE(tier.table.free(extent, {1, 1}));
  EXPECT_FALSE(tier.table.free(extent, {1, 1}));
  EXPECT_EQ(tier.get(extent, {1, 1}), std::nullopt);
  EXPECT_EQ(tier.table.begin({1, 2}, "b", 1, 0, {}).status().code(), KV_NO_SPACE) << "not written yet";
  Table::Changes changes;
  ASSERT_TRUE(tier.store(&changes));
  ASSERT_EQ(changes.freed.size(), 1U);
  EXPECT_EQ(tier.table.begin({1, 2}, "b", 1, 0, {}).status().code(), KV_NO_SPACE) << "somebody reads it";
  tier.table.unpin(extent.generation);
  EXPECT_TRUE(tier.table.begin({1, 2}, "b", 1, 0, {}).ok());
  EXPECT_EQ(Tier(disk).found.restored, 0U);
}

TEST(TierTable, WhatIsFreedOnItsWayIsNeverReadable) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  const uint32_t slot = tier.table.begin({1, 1}, "a", 5, crc32c("hello"), {}).value();
  ASSERT_TRUE(tier.writePayload(slot, "hello"));
  tier.table.written(slot);
  EXPECT_TRUE(tier.table.freeAnyState(slot));
  Table::Changes changes;
  ASSERT_TRUE(tier.store(&changes));
  EXPECT_TRUE(changes.readable.empty());
  EXPECT_EQ(changes.freed.size(), 1U);
  EXPECT_EQ(Tier(disk).found.restored, 0U);
}

TEST(TierTable, BoundsAreToldByName) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  const std::string longKey(kTierKeyBytesMax + 1, 'k');
  EXPECT_EQ(tier.table.begin({1, 1}, longKey, 1, 0, {}).status().code(), KV_INVALID_KEY);
  EXPECT_EQ(tier.table.begin({1, 1}, "a", kGeometry.dataBytes + 1, 0, {}).status().code(), KV_NO_SPACE);
  EXPECT_EQ(tier.table.begin({1, 1}, "a", UINT64_MAX, 0, {}).status().code(), KV_TOO_LARGE);
  for (uint32_t i = 0; i < kGeometry.slots; ++i)
    ASSERT_TRUE(tier.table.begin({2, i}, "k" + std::to_string(i), 1, 0, {}).ok());
  const Status full = tier.table.begin({1, 1}, "a", 1, 0, {}).status();
  EXPECT_EQ(full.code(), KV_NO_SPACE);
  EXPECT_NE(full.text().find(std::to_string(kGeometry.slots)), std::string::npos) << full.text();
}

TEST(TierTable, APayloadThatIsTooMuchToReadIsRefusedWithTheBound) {
  Table table(newHeader(*planTier(uint64_t{1} << 30), kIdentity, kNumber));
  EXPECT_TRUE(table.begin({1, 1}, "a", kTierPayloadBytesMax, 0, {}).ok());
  const Status refused = table.begin({1, 2}, "b", kTierPayloadBytesMax + 1, 0, {}).status();
  EXPECT_EQ(refused.code(), KV_TOO_LARGE);
  EXPECT_NE(refused.text().find(std::to_string(kTierPayloadBytesMax)), std::string::npos) << refused.text();
}

TEST(TierTable, DamageIsDroppedAndCountedAndTheRestStays) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  std::vector<ExtentRef> extents;
  for (uint64_t i = 0; i < 8; ++i)
    extents.push_back(tier.put({1, i}, "k" + std::to_string(i), "value " + std::to_string(i)));
  const auto record = [&](uint32_t slot) {
    return std::span(disk.bytes).subspan(kTableOffset + slot * sizeof(TierRecord), sizeof(TierRecord));
  };
  record(1)[200] ^= 1;                         // torn
  Described twin = tier.table.slot(2).object;  // says what slot 2 says, of other bytes
  twin.objectId = {1, 100};
  encodeRecord(record(3), 3, kNumber, twin);  // overlaps slot 2
  Described again = tier.table.slot(4).object;
  again.extent.offset += 64 * kBlockBytes;
  encodeRecord(record(5), 5, kNumber, again);                          // the object of slot 4 a second time
  encodeRecord(record(6), 6, kNumber + 1, tier.table.slot(6).object);  // of another tier
  Tier after(disk);
  EXPECT_EQ(after.found.torn, 1U);
  EXPECT_EQ(after.found.overlapping, 2U);
  EXPECT_EQ(after.found.invalid, 1U);
  EXPECT_EQ(after.found.foreign, 1U);
  EXPECT_EQ(after.found.restored, 3U);
  for (const uint64_t i : {0U, 4U, 7U})
    EXPECT_EQ(after.get(extents[i], {1, i}), "value " + std::to_string(i));
  ASSERT_TRUE(after.store());
  EXPECT_EQ(Tier(disk).found.dropped(), 0U) << "what was dropped is cleared";
}

/// They would stay in memory for as long as the node lives, 112 bytes for each 64 KiB of the tier.
TEST(TierTable, SlotsThatWereNeverUsedTakeNoMemory) {
  DeviceInMemory disk(kTierBytesMin);
  std::vector<uint8_t> table(kGeometry.slots * sizeof(TierRecord));
  Described object{{1, 7}, "seven", 7, {kGeometry.dataOffset, kBlockBytes}, 100, 0, {}};
  const auto bytes = [&](uint32_t slot) { return std::span(table).subspan(slot * sizeof(TierRecord)); };
  encodeRecord(bytes(7).first(sizeof(TierRecord)), 7, kNumber, object);
  encodeFree(bytes(9).first(sizeof(TierRecord)), 9, kNumber, 70);
  encodeFree(bytes(12).first(sizeof(TierRecord)), 12, kNumber + 1, 71);  // an earlier tier's
  bytes(14)[0] = 1;                                                      // torn
  std::copy(table.begin(), table.end(), disk.bytes.data() + kTableOffset);

  Table recovered(kHeader);
  recovered.recover(table, kNobodyIsDead);
  EXPECT_EQ(recovered.slotsTouched(), 10U) << "before the end of the start, too";
  Tier tier(disk);
  EXPECT_EQ(tier.found.restored, 1U);
  EXPECT_EQ(tier.found.foreign, 1U);
  EXPECT_EQ(tier.found.torn, 1U);
  EXPECT_EQ(tier.table.slotsTouched(), 10U);
  EXPECT_NE(tier.table.find({kTierSegment, 7, 7}, {1, 7}), nullptr);
  ASSERT_TRUE(tier.store());
  EXPECT_EQ(Tier(disk).found.torn, 0U) << "it was cleared on the device";
  for (uint64_t i = 1; i <= 20; ++i)
    EXPECT_GT(tier.put({2, i}, "key-" + std::to_string(i), "value").generation, 70U);
  EXPECT_EQ(tier.table.slotsTouched(), 21U);
  EXPECT_EQ(Tier(disk).found.restored, 21U);
}

TEST(TierTable, TheDeadStayDead) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  tier.put({1, 1}, "a", "one");
  const ExtentRef kept = tier.put({1, 2}, "b", "two");
  Table table(headerOn(disk));
  const TierRecovery found = loadTable(disk, table, [](const ObjectId&, std::string_view key) {
                               return key == "a" ? Table::Fate::Dead : Table::Fate::Alive;
                             }).value();
  EXPECT_EQ(found.dead, 1U);
  EXPECT_EQ(found.restored, 1U);
  EXPECT_NE(table.find(kept, {1, 2}), nullptr);
  EXPECT_EQ(table.objects(), 1U);
  EXPECT_TRUE(table.isDirty());
  EXPECT_TRUE(table.isClearing()) << "the device does not know it yet";
  const Table::Batch batch = table.takeDirty(1);
  const Table::Changes changes = table.stored(batch);
  ASSERT_EQ(changes.freed.size(), 1U);
  EXPECT_EQ(changes.freed[0].objectId, (ObjectId{1, 1}));
  EXPECT_FALSE(table.isClearing());
}

TEST(TierTable, WhatTheHeaderCallsDeadIsDeadWhateverItsRecordSays) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  const ExtentRef older = tier.put({1, 1}, "a", "one");
  const ExtentRef newer = tier.put({1, 2}, "b", "two");
  tier.table.purge({1, 2});
  EXPECT_EQ(tier.table.purged(), ObjectId{}) << "the device does not know it yet";
  EXPECT_EQ(Tier(disk).found.restored, 2U);
  ASSERT_TRUE(tier.store());
  EXPECT_EQ(tier.table.purged(), (ObjectId{1, 2}));
  tier.table.purge({1, 1});
  EXPECT_FALSE(tier.table.isDirty()) << "it only grows";
  EXPECT_TRUE(tier.table.free(older, {1, 1}));
  EXPECT_FALSE(tier.table.isClearing()) << "nobody waits for the record of what no start finds";
  EXPECT_TRUE(tier.table.isDirty()) << "but its blocks are to be used again";

  Tier after(disk);
  EXPECT_EQ(after.found.dead, 1U);
  EXPECT_EQ(after.get(newer, {1, 2}), "two");
  EXPECT_EQ(after.table.find(older, {1, 1}), nullptr);
  EXPECT_FALSE(after.table.isClearing());
  ASSERT_TRUE(after.store());
  EXPECT_EQ(Tier(disk).found.dead, 0U);
}

TEST(TierTable, AHeaderIsWrittenBehindTheBatchBeforeAndAlone) {
  DeviceInMemory disk(kTierBytesMin);
  Tier tier(disk);
  tier.table.purge({1, 1});
  const Table::Batch batch = tier.table.takeDirty(1);
  ASSERT_TRUE(batch.header);
  tier.table.purge({1, 2});
  EXPECT_FALSE(tier.table.isDirty()) << "not while the other one is written";
  tier.table.stored(batch);
  EXPECT_EQ(tier.table.purged(), (ObjectId{1, 1}));
  const Table::Batch second = tier.table.takeDirty(1);
  ASSERT_TRUE(second.header);
  EXPECT_NE(headerOffset(*second.header), headerOffset(*batch.header)) << "it goes over the older copy";
}

TEST(TierTable, ATierMadeOverAnotherOneIsTheOneOrTheOtherAtEachCrash) {
  for (uint64_t sectors = 0; sectors <= 2 * kBlockBytes / DeviceInMemory::kSectorBytes; ++sectors) {
    DeviceInMemory disk(kTierBytesMin);
    Tier tier(disk);
    tier.put({1, 1}, "a", "one");
    tier.table.purge({1, 1});
    ASSERT_TRUE(tier.store());
    TierHeader fresh = headerOn(disk);
    fresh.number = kNumber + 1;
    disk.sectorsLeft = sectors;
    const bool made = formatTier(disk, fresh).ok();
    disk.sectorsLeft.reset();
    const TierHeader now = headerOn(disk);
    EXPECT_EQ(now.number, sectors == 0 ? kNumber : kNumber + 1);
    EXPECT_EQ(purgeIdOf(now), sectors == 0 ? (ObjectId{1, 1}) : ObjectId{});
    EXPECT_EQ(Tier(disk).found.restored, sectors == 0 ? 1U : 0U);
    EXPECT_EQ(made, sectors == 2 * kBlockBytes / DeviceInMemory::kSectorBytes);
  }
}

/// Puts, frees and purges at random on a disk that loses power after a random number of sectors, again and again. What
/// was said to be readable is there with its bytes, what was said to be free is not, and what was under way is one or
/// the other.
/// Also when all is encrypted: sectors that a cut write did not reach are as before, and those never written free.
class Crashes : public ::testing::TestWithParam<bool> {
 protected:
  void life(test::Dice& dice) {
    disk.sectorsLeft.reset();
    SealedDevice sealed(std::make_unique<Lent>(disk), TierSecret{1});
    Tier tier(disk, GetParam() ? static_cast<Device&>(sealed) : disk);
    check(tier);
    unsure.clear();
    disk.sectorsLeft = dice.below(400);
    while (step(tier, dice)) {
    }
  }

 private:
  struct Known {
    ExtentRef extent;
    std::string value;
  };

  void check(Tier& tier) {
    for (const auto& [id, known] : there) {
      const std::optional<std::string> value = tier.get(known.extent, id);
      if (unsure.contains(id) && !value) continue;
      ASSERT_EQ(value, known.value) << toString(id);
    }
    for (uint32_t slot = 0; slot < tier.table.slotsTouched(); ++slot) {
      if (tier.table.slot(slot).state != Table::State::Readable) continue;
      const ObjectId& id = tier.table.slot(slot).object.objectId;
      ASSERT_TRUE(there.contains(id)) << toString(id) << " was freed";
    }
    std::erase_if(there, [&](const auto& one) { return tier.table.find(one.second.extent, one.first) == nullptr; });
    ASSERT_EQ(tier.found.overlapping + tier.found.invalid + tier.found.torn, 0U);
  }

  bool step(Tier& tier, test::Dice& dice) {
    if (dice.oneIn(20)) return purge(tier, {1, lastId - std::min(lastId, dice.below(5))});
    if (!dice.oneIn(3) || there.empty()) return put(tier, dice);
    auto victim = there.begin();
    std::advance(victim, static_cast<std::ptrdiff_t>(dice.below(there.size())));
    const ObjectId id = victim->first;
    EXPECT_TRUE(tier.table.free(victim->second.extent, id));
    unsure.insert(id);
    if (!tier.store()) return false;
    unsure.erase(id);
    there.erase(id);
    return true;
  }

  bool purge(Tier& tier, const ObjectId& below) {
    const auto end = there.lower_bound(below);
    for (auto it = there.begin(); it != end; ++it)
      unsure.insert(it->first);
    tier.table.purge(below);
    if (!tier.store()) return false;
    there.erase(there.begin(), end);
    return true;
  }

  bool put(Tier& tier, test::Dice& dice) {
    const ObjectId id{1, ++lastId};
    const std::string value(dice.below(20000), static_cast<char>('a' + dice.below(26)));
    const Result<uint32_t> slot = tier.table.begin(id, "key " + toString(id), value.size(), crc32c(value), {});
    if (!slot.ok()) return true;
    there[id] = {tier.extentOf(slot.value()), value};
    unsure.insert(id);
    if (!tier.writePayload(slot.value(), value)) return false;
    tier.table.written(slot.value());
    if (!tier.store()) return false;
    unsure.erase(id);
    return true;
  }

  DeviceInMemory disk{kTierBytesMin};
  std::map<ObjectId, Known> there;
  std::set<ObjectId> unsure;
  uint64_t lastId = 0;
};

INSTANTIATE_TEST_SUITE_P(PlainAndSealed, Crashes, ::testing::Bool());

TEST_P(Crashes, LeaveEachObjectAsItWasBeforeOrAfter) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int lives = 0; lives < 300 && !HasFatalFailure(); ++lives)
    life(dice);
}

}  // namespace
}  // namespace kvpool::ssd
