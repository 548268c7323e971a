// SPDX-License-Identifier: Apache-2.0
// A segment says of itself that no object is in it, so that a build that cannot read it may make its own of it. Doubt
// means that it does not say so.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/segment_file.h"
#include "store/segment_in_memory.h"
#include "temporary_directory.h"

namespace kvpool::store {
namespace {

using test::SegmentInMemory;

constexpr BuildVersions kFirst{{1, 2}, {1, 1}};
constexpr BuildVersions kSecond{{1, 2}, {2, 2}};

SegmentIdentity seenBy(const SegmentInMemory& segment, const BuildVersions& build) {
  SegmentIdentity identity = segment.identity;
  identity.build = build;
  return identity;
}

SegmentState& stateIn(SegmentInMemory& segment, uint64_t copy) {
  return *reinterpret_cast<SegmentState*>(segment.memory.data() + kStateOffset + copy * kPageBytes);
}

/// An object came and went, as when a node has been drained.
void useAndEmpty(SegmentInMemory& segment) {
  const ExtentRef extent = segment.put({1, 1}, "key", "value");
  ASSERT_TRUE(segment.directory->free(extent, {1, 1}));
  segment.state->sayEmptied();
}

/// Ends the life of the node at the store of this number, of which a part arrives.
struct CutGate : StoreGate {
  struct Cut {};
  size_t left;
  size_t part;
  CutGate(size_t stores, size_t bytes) : left(stores), part(bytes) {}
  void store(void* destination, const void* source, size_t length) override {
    const bool last = left-- == 0;
    StoreGate::store(destination, source, last ? std::min(part, length) : length);
    if (last) throw Cut();
  }
};

/// A disk that takes nothing, or takes it and is watched.
struct Disk : StoreGate {
  bool works = true;
  std::vector<std::string> done;
  void store(void* destination, const void* source, size_t length) override {
    StoreGate::store(destination, source, length);
    done.emplace_back(length == sizeof(SegmentState) ? "state" : "record");
  }
  bool settle(const void*, size_t) override {
    done.emplace_back("settled");
    errno = EIO;
    return works;
  }
};

TEST(Emptied, ANewSegmentIsAndTheFirstObjectEndsIt) {
  SegmentInMemory segment;
  EXPECT_TRUE(saysEmptied(segment.memory));
  segment.state->update([](SegmentState& state) { state.epoch = 7; });
  EXPECT_TRUE(saysEmptied(segment.memory)) << "whatever else is changed";
  ASSERT_TRUE(segment.directory->reserve({1, 1}, "key", 10).ok());
  EXPECT_FALSE(saysEmptied(segment.memory)) << "before a byte of it is written";
}

TEST(Emptied, ItIsSaidAgainAndKeptThroughLives) {
  SegmentInMemory segment;
  useAndEmpty(segment);
  for (uint64_t incarnation = 5; incarnation < 8; ++incarnation) {
    segment.open();
    segment.state->update([&](SegmentState& state) { state.incarnation = incarnation; });
    EXPECT_TRUE(saysEmptied(segment.memory)) << "at each moment: a node may die while it starts";
  }
}

TEST(Emptied, ALifeThatKnowsNothingOfItEndsItByItsIncarnation) {
  SegmentInMemory segment;
  useAndEmpty(segment);
  for (int stores = 1; stores <= 3; ++stores) {
    SegmentState state = *newestState(segment.memory);
    ++state.sequence;
    state.incarnation = 99;
    state.crc = crc32c(&state, offsetof(SegmentState, crc));
    stateIn(segment, state.sequence % 2) = state;
    EXPECT_FALSE(saysEmptied(segment.memory)) << stores << " stores of it";
  }
}

TEST(Emptied, AnyDamageOfEitherCopyIsDoubt) {
  SegmentInMemory segment;
  useAndEmpty(segment);
  ASSERT_TRUE(saysEmptied(segment.memory));
  for (uint64_t copy = 0; copy < 2; ++copy) {
    auto* bytes = reinterpret_cast<uint8_t*>(&stateIn(segment, copy));
    for (size_t byte = 0; byte < sizeof(SegmentState); ++byte) {
      bytes[byte] ^= 0x10;
      EXPECT_FALSE(saysEmptied(segment.memory)) << "byte " << byte << " of copy " << copy;
      bytes[byte] ^= 0x10;
    }
  }
  const uint64_t newer = stateIn(segment, 0).sequence > stateIn(segment, 1).sequence ? 0 : 1;
  const SegmentState before = stateIn(segment, newer);
  ASSERT_TRUE(segment.directory->reserve({1, 2}, "key", 10).ok());
  stateIn(segment, newer) = before;
  EXPECT_FALSE(saysEmptied(segment.memory)) << "an old block that a disk shows";
}

TEST(Emptied, TheDiskKnowsThatItIsTakenBackBeforeTheFirstRecord) {
  SegmentInMemory segment;
  Disk disk;
  StatePages pages(segment.memory, disk);
  Directory directory(segment.memory, segment.geometry, pages, disk);
  directory.recover();
  disk.works = false;
  EXPECT_EQ(directory.reserve({1, 1}, "key", 10).status().code(), KV_IO);
  EXPECT_EQ(disk.done, (std::vector<std::string>{"state", "settled"}));
  EXPECT_EQ(directory.reserve({1, 1}, "key", 10).status().code(), KV_IO) << "as long as that fails";
  disk.works = true;
  disk.done.clear();
  ASSERT_TRUE(directory.reserve({1, 1}, "key", 10).ok());
  EXPECT_EQ(disk.done, (std::vector<std::string>{"settled", "state", "record"}));
  disk.done.clear();
  ASSERT_TRUE(directory.reserve({1, 2}, "key", 10).ok());
  EXPECT_EQ(disk.done, std::vector<std::string>{"record"}) << "once in a life";
}

TEST(Emptied, WhatIsNoMatterOfLayoutsIsKept) {
  SegmentInMemory segment(kSegmentBytesMin, kFirst);
  segment.state->update([](SegmentState& state) {
    state.incarnation = 5;
    state.epoch = 3;
    state.nonce = 4;
    state.purgeEpoch = 2;
    state.objectLeaseMaxMs = 5000;
    state.tier = 77;
    state.activeWire = 2;
  });
  const ExtentRef extent = segment.put({2, 1}, "key", "value");
  const std::vector<Tombstone> tombstones{{{2, 9}, "gone"}};
  ASSERT_TRUE(segment.directory->keepTombstones(tombstones).ok());
  ASSERT_TRUE(segment.directory->free(extent, {2, 1}));
  segment.state->sayEmptied();
  const SegmentState before = segment.state->get();

  ASSERT_TRUE(renewSegment(segment.memory, seenBy(segment, kSecond), segment.gate).ok());
  ASSERT_EQ(checkHeader(segment.memory, seenBy(segment, kSecond)).verdict, HeaderVerdict::Fits);
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.restored + recovery.dropped() + recovery.tombstones, 0u) << "leaders keep again what is to be";
  const SegmentState& after = segment.state->get();
  EXPECT_EQ(after.activeLayout, 2);
  EXPECT_EQ(after.activeWire, 2);
  EXPECT_EQ(after.epoch, before.epoch);
  EXPECT_EQ(after.nonce, before.nonce);
  EXPECT_EQ(after.purgeEpoch, before.purgeEpoch);
  EXPECT_EQ(after.objectLeaseMaxMs, before.objectLeaseMaxMs);
  EXPECT_EQ(after.incarnation, before.incarnation) << "else any SSD tier would be believed";
  EXPECT_EQ(after.tier, before.tier);
  EXPECT_EQ(after.generationHighWater, before.generationHighWater) << "an old descriptor names no new extent";
  const ExtentRef object = segment.put({3, 1}, "key", "value");
  EXPECT_EQ(segment.open().restored, 1u);
  EXPECT_EQ(segment.get(object, {3, 1}), "value");
}

TEST(Emptied, ACutAtAnyStoreLeavesIt) {
  for (const auto& [from, to] : {std::pair{kFirst, kSecond}, std::pair{kSecond, kFirst}}) {
    bool cut = true;
    for (size_t stores = 0; cut; ++stores) {
      for (const size_t bytes : {size_t{0}, size_t{40}, SIZE_MAX}) {
        SegmentInMemory segment(kSegmentBytesMin, from);
        useAndEmpty(segment);
        CutGate gate(stores, bytes);
        try {
          ASSERT_TRUE(renewSegment(segment.memory, seenBy(segment, to), gate).ok());
          cut = false;
        } catch (const CutGate::Cut&) {
        }
        SegmentInMemory back(kSegmentBytesMin, from);
        back.memory = segment.memory;
        if (checkHeader(back.memory, seenBy(back, from)).verdict == HeaderVerdict::Fits) {
          EXPECT_EQ(back.open().restored, 0u) << "the build before comes back";
          back.put({1, 2}, "key", "value");
          EXPECT_EQ(back.open().restored, 1u);
        }
        if (checkHeader(segment.memory, seenBy(segment, to)).verdict != HeaderVerdict::Fits) {
          ASSERT_EQ(checkHeader(segment.memory, seenBy(segment, to)).verdict, HeaderVerdict::OtherLayout);
          // A half-made state is doubt: the build before has to come once more.
          if (!saysEmptied(segment.memory)) continue;
          ASSERT_TRUE(renewSegment(segment.memory, seenBy(segment, to), segment.gate).ok());
        }
        ASSERT_EQ(checkHeader(segment.memory, seenBy(segment, to)).verdict, HeaderVerdict::Fits) << stores;
        segment.open();
        segment.put({1, 2}, "key", "value");
        EXPECT_EQ(segment.open().restored, 1u);
      }
    }
  }
}

class EmptiedFileTest : public testing::Test {
 protected:
  Result<SegmentFile> open(const BuildVersions& build) {
    return openSegment(directory.path(), {{1, 2}, "node-0", 0, build}, kSegmentBytesMin, "20260102T030405Z",
                       test::kBoot, gate);
  }
  void putObject(const BuildVersions& build) {
    Result<SegmentFile> segment = open(build);
    ASSERT_TRUE(segment.ok());
    StatePages pages(segment.value().mapping.bytes(), gate);
    Directory objects(segment.value().mapping.bytes(), segment.value().geometry, pages, gate);
    objects.recover();
    const Result<uint32_t> slot = objects.reserve({1, 1}, "key", 0);
    ASSERT_TRUE(slot.ok());
    objects.commit(slot.value(), 0);
  }
  std::string content() const {
    const std::string name = directory.path() + "/" + kSegmentFileName;
    std::string bytes(std::filesystem::file_size(name), '\0');
    EXPECT_TRUE(std::ifstream(name, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size())));
    return bytes;
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(directory.path()), {}));
  }

  test::TemporaryDirectory directory;
  StoreGate gate;
};

TEST_F(EmptiedFileTest, IsMadeAnewInItsPlaceThereAndBack) {
  { ASSERT_TRUE(open(kFirst).ok()); }
  for (const auto& [build, before] : {std::pair{kSecond, 1}, std::pair{kFirst, 2}}) {
    {
      const Result<SegmentFile> renewed = open(build);
      ASSERT_TRUE(renewed.ok()) << renewed.status().text();
      EXPECT_EQ(renewed.value().replacedLayout, before);
      EXPECT_FALSE(renewed.value().created) << "the same file: no room is taken twice";
      ASSERT_EQ(renewed.value().warnings.size(), 1u);
      EXPECT_NE(renewed.value().warnings.front().find("no object was in it"), std::string::npos);
    }
    const Result<SegmentFile> again = open(build);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value().replacedLayout, 0) << "said by the life that did it";
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(EmptiedFileTest, WithAnObjectItIsRefusedAndNotTouched) {
  for (const auto& [build, other] : {std::pair{kFirst, kSecond}, std::pair{kSecond, kFirst}}) {
    std::filesystem::remove(directory.path() + "/" + kSegmentFileName);
    putObject(build);
    const std::string before = content();
    const Result<SegmentFile> refused = open(other);
    EXPECT_EQ(refused.status().code(), KV_SEGMENT_LAYOUT);
    EXPECT_NE(refused.status().text().find("does not say that it was emptied"), std::string::npos);
    EXPECT_TRUE(content() == before);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(EmptiedFileTest, OneOfAnotherNodeIsStillForeign) {
  { ASSERT_TRUE(open(kFirst).ok()); }
  const Result<SegmentFile> other = openSegment(directory.path(), {{1, 2}, "node-1", 0, kSecond}, kSegmentBytesMin,
                                                "20260102T030405Z", test::kBoot, gate);
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other.value().created);
  EXPECT_EQ(files(), 2u) << "set aside, not made anew";
}

TEST_F(EmptiedFileTest, APlaceOfOtherNumbersIsJudgedByItsLayoutFirst) {
  { ASSERT_TRUE(open(kSecond).ok()); }
  std::filesystem::resize_file(directory.path() + "/" + kSegmentFileName, 2 * kSegmentBytesMin);
  const Result<SegmentFile> renewed = open(kFirst);
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(renewed.value().replacedLayout, 2);
  EXPECT_EQ(renewed.value().geometry.fileBytes, 2 * kSegmentBytesMin);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace kvpool::store
