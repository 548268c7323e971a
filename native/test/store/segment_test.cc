// SPDX-License-Identifier: Apache-2.0
// The header of a segment, and its file: created, kept, set aside, refused.
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "store/segment_file.h"
#include "store/segment_in_memory.h"
#include "store/set_aside.h"
#include "temporary_directory.h"

namespace kvpool::store {
namespace {

namespace fs = std::filesystem;
using test::SegmentInMemory;

TEST(Geometry, FitsEverySizeInRange) {
  EXPECT_FALSE(planGeometry(0));
  EXPECT_FALSE(planGeometry(kSegmentBytesMin - 1));
  EXPECT_FALSE(planGeometry(kSegmentBytesMax + 1));
  for (const uint64_t size : {kSegmentBytesMin, kSegmentBytesMin + 1, kSegmentBytesMin + 12345, uint64_t{1000} << 20,
                              uint64_t{4} << 30, uint64_t{1} << 40, kSegmentBytesMax}) {
    const std::optional<Geometry> geometry = planGeometry(size);
    ASSERT_TRUE(geometry);
    EXPECT_GE(geometry->slots, kSlotsMin);
    EXPECT_GE(geometry->dataOffset, recordOffset(geometry->slots));
    EXPECT_LE(geometry->dataOffset + geometry->dataBytes, size);
    EXPECT_GE(geometry->dataBytes, size * 95 / 100);
  }
}

TEST(SegmentHeader, EveryFlippedByteIsFound) {
  SegmentInMemory segment;
  const test::ZeroedBytes whole = segment.memory;
  for (size_t byte = 0; byte < sizeof(SegmentHeader); ++byte) {
    segment.memory[byte] ^= 0x80;
    const HeaderCheck check = checkHeader(segment.memory, segment.identity);
    const bool isVersion = byte >= 8 && byte < 12;
    EXPECT_EQ(check.verdict, isVersion ? HeaderVerdict::OtherLayout : HeaderVerdict::Damaged) << byte;
    EXPECT_FALSE(check.why.empty());
    segment.memory[byte] = whole[byte];
  }
  EXPECT_EQ(checkHeader(segment.memory, segment.identity).verdict, HeaderVerdict::Fits);
}

TEST(SegmentHeader, WholeButWrongNumbersAreFound) {
  SegmentInMemory segment;
  const std::vector<std::function<void(SegmentHeader&)>> lies = {
      [](SegmentHeader& h) { h.headerVersion = 0; },      [](SegmentHeader& h) { h.headerBytes = 1; },
      [](SegmentHeader& h) { h.fileBytes += 4096; },      [](SegmentHeader& h) { h.directoryOffset = 0; },
      [](SegmentHeader& h) { h.dataOffset += 64; },       [](SegmentHeader& h) { h.dataBytes = UINT64_MAX; },
      [](SegmentHeader& h) { h.slots = UINT32_MAX; },     [](SegmentHeader& h) { h.recordBytes = 64; },
      [](SegmentHeader& h) { h.nodeIdLength = 1000000; },
  };
  SegmentHeader whole;
  std::memcpy(&whole, segment.memory.data(), sizeof whole);
  for (size_t i = 0; i < lies.size(); ++i) {
    SegmentHeader header = whole;
    lies[i](header);
    header.crc = crc32c(&header, offsetof(SegmentHeader, crc));
    std::memcpy(segment.memory.data(), &header, sizeof header);
    EXPECT_EQ(checkHeader(segment.memory, segment.identity).verdict, HeaderVerdict::Damaged) << "lie " << i;
  }
}

TEST(SegmentHeader, AnotherOwnerIsNamedOnBothSides) {
  SegmentInMemory segment;
  for (const SegmentIdentity& other : {SegmentIdentity{{9, 9}, "node-0", 0}, SegmentIdentity{{0x11, 0x22}, "node-1", 0},
                                       SegmentIdentity{{0x11, 0x22}, "node-0", 1}}) {
    const HeaderCheck check = checkHeader(segment.memory, other);
    EXPECT_EQ(check.verdict, HeaderVerdict::Foreign);
    EXPECT_NE(check.why.find(toString(segment.identity.poolId)), std::string::npos);
    EXPECT_NE(check.why.find(toString(other.poolId)), std::string::npos);
    EXPECT_NE(check.why.find(other.nodeId), std::string::npos);
  }
}

TEST(StatePages, TheOlderCopyIsOverwrittenAndTheOtherSurvivesATear) {
  SegmentInMemory segment;
  for (uint64_t epoch = 1; epoch < 10; ++epoch) {
    segment.state->update([&](SegmentState& state) { state.epoch = epoch; });
    ASSERT_EQ(StatePages(segment.memory, segment.gate).get().epoch, epoch);
    test::ZeroedBytes torn = segment.memory;
    torn[kStateOffset + (segment.state->get().sequence % 2) * kPageBytes + 10] ^= 1;
    ASSERT_EQ(StatePages(torn, segment.gate).get().epoch, epoch - 1) << "falls back to the copy before";
  }
  segment.memory[kStateOffset] ^= 1;
  segment.memory[kStateOffset + kPageBytes] ^= 1;
  EXPECT_EQ(checkHeader(segment.memory, segment.identity).verdict, HeaderVerdict::Damaged);
}

class SegmentFileTest : public ::testing::Test {
 protected:
  Result<SegmentFile> open(const SegmentIdentity& owner, uint64_t bytes = kSegmentBytesMin) {
    return openSegment(directory.path(), owner, bytes, "20260102T030405Z", test::kBoot, gate);
  }
  [[nodiscard]] std::string path() const { return directory.path() + "/segment-0.kvs"; }
  [[nodiscard]] size_t files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()));
  }

  test::TemporaryDirectory directory;
  StoreGate gate;
  SegmentIdentity identity{{1, 2}, "node-0", 0};
};

TEST_F(SegmentFileTest, IsCreatedWholeAndOpenedAgain) {
  {
    Result<SegmentFile> created = open(identity);
    ASSERT_TRUE(created.ok()) << created.status().text();
    EXPECT_TRUE(created.value().created);
    struct stat info {};
    ASSERT_EQ(::stat(path().c_str(), &info), 0);
    EXPECT_EQ(static_cast<uint64_t>(info.st_size), kSegmentBytesMin);
    EXPECT_GE(static_cast<uint64_t>(info.st_blocks) * 512, kSegmentBytesMin) << "not fully allocated";
    EXPECT_FALSE(Mapping::map(created.value().readOnly.get(), 4096, true).ok());
    created.value().mapping.bytes()[kSegmentBytesMin - 1] = 42;
  }
  Result<SegmentFile> again = open(identity);
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again.value().created);
  EXPECT_TRUE(again.value().warnings.empty());
  EXPECT_EQ(again.value().mapping.bytes()[kSegmentBytesMin - 1], 42);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SegmentFileTest, OneNodeAtATime) {
  const Result<SegmentFile> first = open(identity);
  ASSERT_TRUE(first.ok());
  for (const SegmentIdentity& other : {identity, SegmentIdentity{{3, 4}, "other", 0}}) {
    const Result<SegmentFile> second = open(other);
    EXPECT_EQ(second.status().code(), KV_SEGMENT_IN_USE) << "a file in use is never set aside";
    EXPECT_NE(second.status().text().find(path()), std::string::npos);
  }
}

TEST_F(SegmentFileTest, AForeignFileIsSetAsideNotDeleted) {
  {
    Result<SegmentFile> other = open({{7, 7}, "node-0", 0});
    ASSERT_TRUE(other.ok());
    other.value().mapping.bytes()[kSegmentBytesMin - 1] = 42;
  }
  const Result<SegmentFile> mine = open(identity);
  ASSERT_TRUE(mine.ok()) << mine.status().text();
  EXPECT_TRUE(mine.value().created);
  ASSERT_EQ(mine.value().warnings.size(), 1u);
  const std::string aside = path() + ".set-aside-foreign-20260102T030405Z";
  EXPECT_NE(mine.value().warnings.front().find(aside), std::string::npos);
  EXPECT_NE(mine.value().warnings.front().find(toString(PoolId{7, 7})), std::string::npos);
  std::ifstream kept(aside, std::ios::binary);
  kept.seekg(static_cast<std::streamoff>(kSegmentBytesMin - 1));
  EXPECT_EQ(kept.get(), 42);
  AsideFiles files;
  countAside(directory.path(), kSegmentFileName, files);
  EXPECT_EQ(files.foreign, 1u);
  EXPECT_EQ(files.damaged, 0u);
  EXPECT_GE(files.bytes, kSegmentBytesMin);
}

TEST_F(SegmentFileTest, DamagedFilesAreSetAsideEachUnderItsOwnName) {
  for (const size_t size : {size_t{0}, size_t{100}, static_cast<size_t>(kSegmentBytesMin)}) {
    std::ofstream(path(), std::ios::binary) << std::string(size, 'x');
    const Result<SegmentFile> fresh = open(identity);
    ASSERT_TRUE(fresh.ok()) << size << ": " << fresh.status().text();
    EXPECT_EQ(fresh.value().warnings.size(), 1u);
  }
  EXPECT_EQ(files(), 4u);
  AsideFiles aside;
  countAside(directory.path(), kSegmentFileName, aside);
  EXPECT_EQ(aside.damaged, 3u);
  EXPECT_EQ(aside.foreign, 0u);
}

TEST_F(SegmentFileTest, OnlyWhatWasSetAsideOfThisFileIsCounted) {
  { ASSERT_TRUE(open(identity).ok()); }
  for (const char* name :
       {"/segment-0.kvs.new", "/segment-0.kvs.set-aside", "/ssd-0.kvt.set-aside-damaged-1", "/other"})
    std::ofstream(directory.path() + name) << "x";
  AsideFiles aside;
  countAside(directory.path(), kSegmentFileName, aside);
  countAside(directory.path() + "/none", kSegmentFileName, aside);
  countAside(path(), kSegmentFileName, aside);  // as an SSD tier's path may be a device
  EXPECT_EQ(aside.damaged + aside.foreign + aside.bytes, 0u);
}

TEST_F(SegmentFileTest, ATruncatedFileIsSetAside) {
  { ASSERT_TRUE(open(identity, 2 * kSegmentBytesMin).ok()); }
  fs::resize_file(path(), kSegmentBytesMin);
  const Result<SegmentFile> fresh = open(identity);
  ASSERT_TRUE(fresh.ok());
  EXPECT_NE(fresh.value().warnings.front().find("does not fit the file"), std::string::npos);
}

TEST_F(SegmentFileTest, ANewerHeaderIsLeftAlone) {
  { ASSERT_TRUE(open(identity).ok()); }
  {
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(8);
    file.put(2);
  }
  const Result<SegmentFile> refused = open(identity);
  EXPECT_EQ(refused.status().code(), KV_SEGMENT_LAYOUT);
  EXPECT_NE(refused.status().text().find("header of version 2"), std::string::npos);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SegmentFileTest, AnotherSizeKeepsTheFileAndSaysSo) {
  { ASSERT_TRUE(open(identity).ok()); }
  const Result<SegmentFile> kept = open(identity, 2 * kSegmentBytesMin);
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept.value().geometry.fileBytes, kSegmentBytesMin);
  ASSERT_EQ(kept.value().warnings.size(), 1u);
  EXPECT_NE(kept.value().warnings.front().find("16 MiB"), std::string::npos);
  EXPECT_NE(kept.value().warnings.front().find("32 MiB"), std::string::npos);
}

TEST_F(SegmentFileTest, ImpossibleSizesAndPlacesAreRefused) {
  EXPECT_EQ(open(identity, uint64_t{1} << 20).status().code(), KV_INVALID_ARGUMENT);
  EXPECT_EQ(files(), 0u) << "nothing left behind";
  EXPECT_EQ(openSegment("/no/such/place", identity, kSegmentBytesMin, "t", test::kBoot, gate).status().code(), KV_IO);
  fs::create_directory(path());
  EXPECT_EQ(open(identity).status().code(), KV_IO);
}

TEST_F(SegmentFileTest, AFullFileSystemFailsAtTheStartWithASentence) {
  struct statfs info {};
  ASSERT_EQ(::statfs(directory.path().c_str(), &info), 0);
  ASSERT_EQ(info.f_type, TMPFS_MAGIC) << "/dev/shm is no tmpfs here: segments need one, and so does this test";
  // tmpfs refuses at once what is larger than itself, without filling the machine's memory first.
  const uint64_t tooMuch = fs::space(directory.path()).capacity + (uint64_t{1} << 30);
  const Result<SegmentFile> refused = open(identity, tooMuch);
  EXPECT_EQ(refused.status().code(), KV_IO);
  EXPECT_NE(refused.status().text().find("no room for the segment file"), std::string::npos) << refused.status().text();
  EXPECT_NE(refused.status().text().find("smaller segment size"), std::string::npos);
  EXPECT_EQ(files(), 0u) << "the half-made file is gone";
}

TEST_F(SegmentFileTest, ALeftoverOfACrashedCreationIsReplaced) {
  std::ofstream(path() + ".new") << "half made";
  EXPECT_TRUE(open(identity).ok());
  EXPECT_EQ(files(), 1u);
}

class LentSegment : public testing::Test {
 protected:
  static constexpr uint64_t kPart = kSegmentBytesMin;

  LentSegment() {
    const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(3 * kPart)), 0);
  }

  Result<SegmentFile> lend(uint64_t offset, uint64_t bytes = kPart) {
    return lentSegment({path, offset}, identity, bytes, gate);
  }
  void expectRefused(uint64_t offset, uint64_t bytes, const char* why) {
    const Result<SegmentFile> refused = lend(offset, bytes);
    ASSERT_FALSE(refused.ok()) << why;
    EXPECT_EQ(refused.status().code(), KV_INVALID_ARGUMENT);
    EXPECT_NE(refused.status().text().find(why), std::string::npos) << refused.status().text();
  }

  test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/memory";
  const SegmentIdentity identity{{}, "transient-1", 0};
  StoreGate gate;
};

TEST_F(LentSegment, LiesInItsPartOfTheFileAndNowhereElse) {
  {
    const std::string ones(3 * kPart, '1');
    std::ofstream(path, std::ios::in | std::ios::out) << ones;
  }
  {
    const Result<SegmentFile> segment = lend(kPart);
    ASSERT_TRUE(segment.ok()) << segment.status().text();
    EXPECT_EQ(segment.value().offset, kPart);
    EXPECT_EQ(segment.value().mapping.bytes().size(), kPart);
    EXPECT_EQ(checkHeader(segment.value().mapping.bytes(), identity).verdict, HeaderVerdict::Fits);
    EXPECT_TRUE(saysEmptied(segment.value().mapping.bytes()));
  }
  std::ifstream file(path);
  std::string found((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(found.size(), 3 * kPart);
  EXPECT_EQ(found.substr(0, kPart), std::string(kPart, '1'));
  EXPECT_EQ(found.substr(2 * kPart), std::string(kPart, '1'));
}

TEST_F(LentSegment, HasNothingOfTheOneBeforeInItsPlace) {
  {
    Result<SegmentFile> segment = lend(0);
    ASSERT_TRUE(segment.ok());
    StatePages(segment.value().mapping.bytes(), gate).update([](SegmentState& state) { state.purgeEpoch = 7; });
  }
  Result<SegmentFile> again = lend(0);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(StatePages(again.value().mapping.bytes(), gate).get().purgeEpoch, 0U);
}

TEST_F(LentSegment, BelongsToOneNodeAndOtherPartsToOthers) {
  const Result<SegmentFile> first = lend(0);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(lend(kPart).ok());
  EXPECT_EQ(lend(0).status().code(), KV_SEGMENT_IN_USE);
  EXPECT_EQ(lend(kPart - 4096).status().code(), KV_SEGMENT_IN_USE);
}

TEST_F(LentSegment, IsNotTakenFromAStorageNode) {
  const std::string own = directory.path() + "/" + kSegmentFileName;
  const Result<SegmentFile> node = openSegment(directory.path(), identity, kPart, "20260101T000000Z", 1, gate);
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(lentSegment({own, 0}, identity, kPart, gate).status().code(), KV_INVALID_ARGUMENT);
  fs::create_symlink(own, directory.path() + "/other-name");
  EXPECT_EQ(lentSegment({directory.path() + "/other-name", 0}, identity, kPart, gate).status().code(),
            KV_SEGMENT_IN_USE);
}

TEST_F(LentSegment, WhatIsNoPartOfTheFileIsRefused) {
  expectRefused(100, kPart, "has pages of");
  expectRefused(0, kPart + 1, "has pages of");
  expectRefused(0, 4 * kPart, "make the file longer");
  expectRefused(3 * kPart, kPart, "make the file longer");
  expectRefused(UINT64_MAX - 4095, kPart, "make the file longer");
  expectRefused(0, 4096, "is not possible");
  EXPECT_EQ(lentSegment({directory.path() + "/none", 0}, identity, kPart, gate).status().code(), KV_IO);
  EXPECT_EQ(lentSegment({directory.path(), 0}, identity, kPart, gate).status().code(), KV_IO);
  EXPECT_EQ(lentSegment({"/dev/null", 0}, identity, kPart, gate).status().code(), KV_IO);
}

TEST_F(LentSegment, NeedsAFileOfMemory) {
  const std::string beside = fs::current_path().string() + "/lent-segment-test";
  bool isOnDisk = false;
  {
    const Fd file(::open(beside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(kPart)), 0);
    isOnDisk = memoryOf(file.get()).value().kind == MemoryKind::Disk;  // a build may lie in memory
  }
  const Status status = lentSegment({beside, 0}, identity, kPart, gate).status();
  fs::remove(beside);
  EXPECT_EQ(status.code(), isOnDisk ? KV_INVALID_ARGUMENT : KV_OK);
  EXPECT_EQ(status.text().find("tmpfs or hugetlbfs") != std::string::npos, isOnDisk) << status.text();
}

TEST(AnonymousSegment, IsASegmentWithoutAFile) {
  StoreGate gate;
  const Result<SegmentFile> segment = anonymousSegment({{}, "transient-1", 0}, kSegmentBytesMin, gate);
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(checkHeader(segment.value().mapping.bytes(), {{}, "transient-1", 0}).verdict, HeaderVerdict::Fits);
}

}  // namespace
}  // namespace kvpool::store
