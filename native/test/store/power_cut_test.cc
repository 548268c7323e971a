// SPDX-License-Identifier: Apache-2.0
// What a segment on a disk may say after a power cut: all that it held, or nothing.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "disk_pages.h"
#include "store/segment_file.h"
#include "store/segment_in_memory.h"
#include "temporary_directory.h"

namespace kvpool::store {
namespace {

constexpr uint64_t kEpoch = 1;

class DiskGate final : public StoreGate {
 public:
  explicit DiskGate(std::span<uint8_t> memory) : written_(memory.begin(), memory.end()), pages_{memory, written_} {}

  bool settle(const void* address, size_t length) override {
    pages_.settle(address, length);
    return true;
  }
  void cutPower(std::mt19937_64& random) { pages_.cutPower(random); }

 private:
  std::vector<uint8_t> written_;
  test::DiskPages pages_;
};

/// A node's file, its lives and its power cuts, without what the node does beside.
class Machine {
 public:
  Machine() : memory_(kSegmentBytesMin), geometry_(*planGeometry(kSegmentBytesMin)), disk_(memory_) {
    formatSegment(memory_, geometry_, identity_, disk_);
  }

  /// Whether what the life before held counts as lost.
  bool begin() {
    const bool lost = maySetBack(*newestState(memory_), boot_);
    if (lost) {
      EXPECT_TRUE(formatAgain(memory_, identity_, disk_).ok());
    }
    EXPECT_EQ(checkHeader(memory_, identity_).verdict, HeaderVerdict::Fits);
    pages_.emplace(memory_, disk_);
    EXPECT_TRUE(pages_->beginLife(boot_).ok());
    directory_.emplace(memory_, geometry_, *pages_, disk_);
    directory_->recover();
    pages_->update([&](SegmentState& state) {
      state.incarnation = ++lives_;
      state.epoch = kEpoch;
    });
    return lost;
  }

  void put(uint64_t counter) {
    const Result<uint32_t> slot = directory_->reserve({kEpoch, counter}, std::to_string(counter), 0);
    ASSERT_TRUE(slot.ok());
    directory_->commit(slot.value(), 0);
    slots_[counter] = slot.value();
  }

  void free(uint64_t counter) {
    const uint32_t slot = slots_.extract(counter).mapped();
    ASSERT_TRUE(directory_->free({0, slot, directory_->slot(slot).generation}, {kEpoch, counter}));
  }
  [[nodiscard]] uint64_t objects() const { return directory_->objects(); }
  void forgetAll() { slots_.clear(); }
  [[nodiscard]] bool isEmpty() const { return slots_.empty(); }
  [[nodiscard]] uint64_t held() const { return slots_.size(); }
  [[nodiscard]] uint64_t any(std::mt19937_64& random) const {
    return std::next(slots_.begin(), static_cast<int64_t>(random() % slots_.size()))->first;
  }

  void endInOrder() {
    ASSERT_TRUE(disk_.settle(memory_.data(), memory_.size()));
    ASSERT_TRUE(pages_->saySettled().ok());
  }

  void cutPower(std::mt19937_64& random) {
    disk_.cutPower(random);
    ++boot_;
  }

 private:
  test::ZeroedBytes memory_;
  Geometry geometry_;
  SegmentIdentity identity_{{1, 2}, "node-0", 0, {}};
  DiskGate disk_;
  std::optional<StatePages> pages_;
  std::optional<Directory> directory_;
  std::map<uint64_t, uint32_t> slots_;
  uint64_t boot_ = test::kBoot;
  uint64_t lives_ = 0;
};

TEST(PowerCut, WhoMaySeeTheFileIsKnownAfterwards) {
  test::ZeroedBytes memory(kSegmentBytesMin);
  StoreGate gate;
  const SegmentIdentity identity{{1, 2}, "node-0", 0, {}};
  formatSegment(memory, *planGeometry(kSegmentBytesMin), identity, gate);
  StatePages pages(memory, gate);
  ASSERT_TRUE(pages.beginLife(3).ok());
  EXPECT_FALSE(pages.was(kShown | kHeldTenants));
  pages.note(kShown);
  pages.note(kHeldTenants);
  ASSERT_TRUE(pages.beginLife(3).ok());
  EXPECT_TRUE(pages.was(kShown)) << "under the same boot clients have it still";

  ASSERT_TRUE(maySetBack(pages.get(), 4));
  ASSERT_TRUE(formatAgain(memory, identity, gate).ok());
  StatePages again(memory, gate);
  ASSERT_TRUE(again.beginLife(4).ok());
  EXPECT_FALSE(again.was(kShown));
  EXPECT_TRUE(again.was(kHeldTenants)) << "their bytes are there";
}

TEST(PowerCut, WhatIsThereAfterwardsIsAllOrNothing) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Machine machine;
    machine.begin();
    uint64_t counter = 0;
    bool ended = false;
    for (int life = 0; life < 8; ++life) {
      for (uint64_t step = random() % 100; step > 0; --step) {
        if (machine.isEmpty() || random() % 3 != 0) {
          machine.put(++counter);
        } else {
          machine.free(machine.any(random));
        }
      }
      ended = random() % 2 == 0;
      if (ended) machine.endInOrder();
      const bool cut = random() % 2 == 0;
      if (cut) machine.cutPower(random);
      EXPECT_EQ(machine.begin(), cut && !ended);
      if (cut && !ended) machine.forgetAll();
      ASSERT_EQ(machine.objects(), machine.held());
    }
  }
}

TEST(PowerCut, TheWordOfAnEarlierLifeDoesNotCount) {
  SegmentState state{};
  EXPECT_FALSE(maySetBack(state, 4)) << "no life has begun";
  state.boot = 3;
  EXPECT_TRUE(maySetBack(state, 4)) << "one has, though its incarnation was lost";
  EXPECT_FALSE(maySetBack(state, 3));
  state.incarnation = 5;
  state.settled = settledMark(4);
  EXPECT_TRUE(maySetBack(state, 4)) << "a life before said so";
  state.settled = settledMark(5);
  EXPECT_FALSE(maySetBack(state, 4));
}

class PowerCutFile : public testing::Test {
 protected:
  Result<SegmentFile> open(uint64_t boot) {
    return openSegment(directory.path(), {{1, 2}, "node-0", 0, {}}, kSegmentBytesMin, "20260102T030405Z", boot, gate);
  }
  /// One life with one object, killed.
  void live(uint64_t boot) {
    Result<SegmentFile> segment = open(boot);
    ASSERT_TRUE(segment.ok());
    StatePages pages(segment.value().mapping.bytes(), gate);
    ASSERT_TRUE(pages.beginLife(boot).ok());
    Directory objects(segment.value().mapping.bytes(), segment.value().geometry, pages, gate);
    objects.recover();
    pages.update([](SegmentState& state) { state.incarnation = 9; });
    const Result<uint32_t> slot = objects.reserve({1, 1}, "key", 0);
    ASSERT_TRUE(slot.ok());
    objects.commit(slot.value(), 0);
    onDisk = segment.value().memory.kind == MemoryKind::Disk;
  }

  test::TemporaryDirectory directory;
  StoreGate gate;
  bool onDisk = false;
};

TEST_F(PowerCutFile, UnderAnotherBootASegmentOnADiskIsMadeAnewAndSaysSo) {
  live(1);
  for (const uint64_t boot : {UINT64_C(1), UINT64_C(2)}) {
    const Result<SegmentFile> segment = open(boot);
    ASSERT_TRUE(segment.ok());
    const bool lost = boot == 2 && onDisk;  // on tmpfs nothing of an earlier boot is there
    EXPECT_EQ(newestState(segment.value().mapping.bytes())->incarnation, lost ? 0U : 9U);
    ASSERT_EQ(segment.value().warnings.size(), lost ? 1U : 0U);
    if (lost) {
      EXPECT_NE(segment.value().warnings.front().find("counts as lost"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace kvpool::store
