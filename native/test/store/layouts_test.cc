// SPDX-License-Identifier: Apache-2.0
// Two layouts: a build that knows both reads and writes the active one, goes over in one store, and reads what was
// before.
#include <gtest/gtest.h>

#include "base/fd.h"
#include "store/segment_file.h"
#include "store/segment_in_memory.h"
#include "temporary_directory.h"

namespace kvpool::store {
namespace {

using test::SegmentInMemory;

constexpr BuildVersions kOld{{1, 1}, {1, 1}};
constexpr BuildVersions kBoth{{1, 2}, {1, 2}};
constexpr BuildVersions kNew{{2, 2}, {2, 2}};

HeaderCheck checkBy(const SegmentInMemory& segment, const BuildVersions& build) {
  SegmentIdentity identity = segment.identity;
  identity.build = build;
  return checkHeader(segment.memory, identity);
}

TEST(Layouts, ANewSegmentHasTheLowestVersionsOfItsBuild) {
  for (const auto& [build, active] :
       {std::pair{kOld, wire::ActiveVersions{1, 1}}, std::pair{kBoth, wire::ActiveVersions{1, 1}},
        std::pair{kNew, wire::ActiveVersions{2, 2}}}) {
    const SegmentInMemory segment(kSegmentBytesMin, build);
    EXPECT_EQ(segment.state->active(), active);
    EXPECT_EQ(checkBy(segment, build).verdict, HeaderVerdict::Fits);
  }
}

TEST(Layouts, UntilItIsRaisedBothBuildsReadEachOthersObjects) {
  SegmentInMemory segment(kSegmentBytesMin, kOld);
  const ExtentRef byOld = segment.put({1, 1}, "old", "by the old build");
  ASSERT_EQ(checkBy(segment, kBoth).verdict, HeaderVerdict::Fits);
  EXPECT_EQ(segment.open().restored, 1u);
  const ExtentRef byNewer = segment.put({1, 2}, "newer", "by the build that knows both");
  ASSERT_EQ(checkBy(segment, kOld).verdict, HeaderVerdict::Fits) << "the way back";
  const Recovery recovery = segment.open();
  EXPECT_EQ(recovery.restored, 2u);
  EXPECT_EQ(recovery.dropped(), 0u);
  EXPECT_EQ(segment.get(byOld, {1, 1}), "by the old build");
  EXPECT_EQ(segment.get(byNewer, {1, 2}), "by the build that knows both");
}

TEST(Layouts, ARefusalNamesTheLayoutAndWhatTheBuildKnows) {
  SegmentInMemory segment(kSegmentBytesMin, kBoth);
  const HeaderCheck tooNew = checkBy(segment, kNew);
  EXPECT_EQ(tooNew.verdict, HeaderVerdict::OtherLayout);
  EXPECT_EQ(tooNew.why, "the segment is written in layout 1, this library knows [2, 2]");
  segment.directory->activate({2, 2});
  const HeaderCheck tooOld = checkBy(segment, kOld);
  EXPECT_EQ(tooOld.verdict, HeaderVerdict::OtherLayout);
  EXPECT_EQ(tooOld.why, "the segment is written in layout 2, this library knows [1, 1]");
  EXPECT_EQ(checkBy(segment, kBoth).verdict, HeaderVerdict::Fits);
  EXPECT_EQ(checkBy(segment, kNew).verdict, HeaderVerdict::Fits);
}

TEST(Layouts, WhatWasThereIsBeingWrittenAndComesAfterIsAllRead) {
  SegmentInMemory segment(kSegmentBytesMin, kBoth);
  const ExtentRef before = segment.put({1, 1}, "before", "value");
  const Result<uint32_t> slot = segment.directory->reserve({1, 2}, "during", 0);
  ASSERT_TRUE(slot.ok());
  segment.directory->activate({2, 2});
  segment.directory->commit(slot.value(), 0);
  const uint64_t during = segment.directory->slot(slot.value()).generation;
  const ExtentRef after = segment.put({1, 3}, "after", "value");
  EXPECT_GT(after.generation, during);
  EXPECT_EQ(segment.record(before.slot).crc, recordCrc(segment.record(before.slot)));
  EXPECT_NE(segment.record(after.slot).crc, recordCrc(segment.record(after.slot))) << "sealed otherwise";

  for (int life = 0; life < 2; ++life) {
    const Recovery recovery = segment.open();
    EXPECT_EQ(recovery.restored, 3u);
    EXPECT_EQ(recovery.dropped(), 0u);
    EXPECT_EQ(segment.state->active(), (wire::ActiveVersions{2, 2}));
  }
  EXPECT_EQ(segment.get(before, {1, 1}), "value");
  EXPECT_EQ(segment.get({0, slot.value(), during}, {1, 2}), "");
  EXPECT_EQ(segment.get(after, {1, 3}), "value");
  EXPECT_TRUE(segment.directory->free(before, {1, 1}));
  EXPECT_TRUE(segment.directory->free(after, {1, 3}));
  EXPECT_EQ(segment.open().dropped(), 0u) << "freed records of both layouts are whole";
}

TEST(Layouts, NothingLowersThem) {
  SegmentInMemory segment(kSegmentBytesMin, kBoth);
  segment.directory->activate({2, 1});
  EXPECT_EQ(segment.state->active(), (wire::ActiveVersions{2, 1}));
  segment.directory->activate({1, 2});
  EXPECT_EQ(segment.state->active(), (wire::ActiveVersions{2, 2}));
  const uint64_t since = segment.state->get().layoutSince;
  segment.put({1, 1}, "key", "value");
  segment.directory->activate({2, 2});
  segment.directory->activate({1, 1});
  EXPECT_EQ(segment.state->active(), (wire::ActiveVersions{2, 2}));
  EXPECT_EQ(segment.state->get().layoutSince, since) << "else records in between would count as older ones";
}

TEST(Layouts, AStoreThatIsCutLeavesTheOldLayoutWhole) {
  SegmentInMemory segment(kSegmentBytesMin, kBoth);
  const ExtentRef object = segment.put({1, 1}, "key", "value");
  segment.directory->activate({2, 2});
  segment.memory[kStateOffset + (segment.state->get().sequence % 2) * kPageBytes + 70] ^= 1;
  EXPECT_EQ(checkBy(segment, kOld).verdict, HeaderVerdict::Fits);
  EXPECT_EQ(segment.open().restored, 1u);
  EXPECT_EQ(segment.state->active(), (wire::ActiveVersions{1, 1}));
  EXPECT_EQ(segment.get(object, {1, 1}), "value");
}

TEST(Layouts, ARecordOfAnotherSegmentIsWholeInTheFirstLayoutOnly) {
  for (const auto& [build, taken] : {std::pair{kOld, true}, std::pair{kNew, false}}) {
    SegmentInMemory one(kSegmentBytesMin, build);
    SegmentInMemory other(kSegmentBytesMin, build);
    other.identity.nodeId = "node-1";
    std::memset(other.memory.data(), 0, kDirectoryOffset);
    formatSegment(other.memory, other.geometry, other.identity, other.gate);
    other.open();
    one.put({1, 1}, "mine", "value");
    const ExtentRef theirs = other.put({1, 2}, "his", "value");
    // As when a disk shows the block that the other file had there.
    std::memcpy(one.memory.data() + recordOffset(theirs.slot), other.memory.data() + recordOffset(theirs.slot),
                sizeof(DirectoryRecord));
    std::memcpy(one.memory.data() + one.geometry.dataOffset, other.memory.data() + one.geometry.dataOffset, 128);
    const Recovery recovery = one.open();
    EXPECT_EQ(recovery.restored, taken ? 1u : 0u);
    EXPECT_EQ(recovery.torn, taken ? 0u : 1u);
  }
}

TEST(Layouts, AFileInAnotherLayoutIsLeftAlone) {
  const test::TemporaryDirectory directory;
  StoreGate gate;
  const auto open = [&](const BuildVersions& build) {
    return openSegment(directory.path(), {{1, 2}, "node-0", 0, build}, kSegmentBytesMin, "20260102T030405Z",
                       test::kBoot, gate);
  };
  {
    const Result<SegmentFile> made = open(kNew);
    ASSERT_TRUE(made.ok());
    ASSERT_TRUE(StatePages(made.value().mapping.bytes(), gate).takeBackEmptied().ok());
  }
  const Result<SegmentFile> refused = open(kOld);
  EXPECT_EQ(refused.status().code(), KV_SEGMENT_LAYOUT);
  for (const char* part : {"in layout 2, this library knows [1, 1]", "; start a version that knows it"})
    EXPECT_NE(refused.status().text().find(part), std::string::npos) << refused.status().text();
  const Result<SegmentFile> again = open(kBoth);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_FALSE(again.value().created);
}

}  // namespace
}  // namespace kvpool::store
