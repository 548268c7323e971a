// SPDX-License-Identifier: Apache-2.0
// Tiers on block devices of the kernel.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ssd/loop_device.h"
#include "ssd/small_tier.h"
#include "ssd/table.h"
#include "ssd/tier_file.h"
#include "temporary_directory.h"

namespace kvpool::ssd {
namespace {

using test::kIdentity;
using test::kNumber;

constexpr uint64_t kDeviceTier = kTierBytesMin;

class TierDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device.valid()) << "no loop device can be made here: that takes root and /dev/loop-control";
  }

  Result<TierFile> open(const store::SegmentIdentity& identity = kIdentity, uint64_t bytes = kDeviceTier) const {
    return openTier({device.path(), bytes, identity, "20260101T000000Z", kNumber, std::nullopt});
  }

  void write(uint64_t at, const std::string& what) const {
    const Fd file(::open(device.path().c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), what.data(), what.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(what.size()));
    ASSERT_EQ(::fsync(file.get()), 0);
  }

  [[nodiscard]] std::string read(uint64_t at, size_t bytes) const {
    const Fd file(::open(device.path().c_str(), O_RDONLY | O_CLOEXEC));
    std::string there(bytes, '?');
    EXPECT_EQ(::pread(file.get(), there.data(), bytes, static_cast<off_t>(at)), static_cast<ssize_t>(bytes));
    return there;
  }

  test::LoopDevice device{2 * kDeviceTier};
};

TEST_F(TierDeviceTest, IsMadeAndFoundAgain) {
  {
    const Result<TierFile> made = open();
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_TRUE(made.value().created);
    EXPECT_TRUE(made.value().direct);
    EXPECT_EQ(made.value().header.tierBytes, kDeviceTier);
    EXPECT_TRUE(made.value().warnings.empty());
  }
  const Result<TierFile> again = open();
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_FALSE(again.value().created);
  EXPECT_EQ(again.value().header.number, kNumber);
}

TEST_F(TierDeviceTest, IsTakenWholeWhereItHasLessThanAskedFor) {
  const Result<TierFile> made = open(kIdentity, 3 * kDeviceTier);
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(made.value().header.tierBytes, 2 * kDeviceTier);
  ASSERT_EQ(made.value().warnings.size(), 1u);
  EXPECT_NE(made.value().warnings.front().find("were asked for"), std::string::npos);
}

TEST_F(TierDeviceTest, KeepsItsSizeAndSaysSoWhenAnotherIsAskedFor) {
  ASSERT_TRUE(open().ok());
  for (const uint64_t asked : {kDeviceTier + (1 << 20), 3 * kDeviceTier}) {
    const Result<TierFile> again = open(kIdentity, asked);
    ASSERT_TRUE(again.ok()) << again.status().text();
    EXPECT_EQ(again.value().header.tierBytes, kDeviceTier);
    ASSERT_EQ(again.value().warnings.size(), 1u);
    EXPECT_EQ(again.value().warnings.front(),
              device.path() + " keeps its 16777216 bytes; " + std::to_string(asked) +
                  " were asked for and take effect once its first 1048576 bytes are overwritten with zeros, which "
                  "empties it");
  }
}

TEST_F(TierDeviceTest, AWholeDeviceThatHasLessThanAskedForKeepsNothingBack) {
  ASSERT_TRUE(open(kIdentity, 3 * kDeviceTier).ok());
  const Result<TierFile> again = open(kIdentity, 4 * kDeviceTier);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_TRUE(again.value().warnings.empty());
}

TEST_F(TierDeviceTest, IsFoundByTheLinksThatDisksGoBy) {
  const test::TemporaryDirectory directory;
  const std::string link = directory.path() + "/by-id";
  std::filesystem::create_symlink(device.path(), link);
  const Result<TierFile> made = openTier({link, kDeviceTier, kIdentity, "", kNumber, std::nullopt});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_TRUE(made.value().created);
}

TEST_F(TierDeviceTest, BelongsToOneProcess) {
  const Result<TierFile> first = open();
  ASSERT_TRUE(first.ok()) << first.status().text();
  const Status second = open().status();
  EXPECT_EQ(second.code(), KV_SEGMENT_IN_USE);
  EXPECT_NE(second.text().find("is mounted, or used by another process"), std::string::npos) << second.text();
}

TEST_F(TierDeviceTest, AnotherNodesTierIsLeftAlone) {
  ASSERT_TRUE(open().ok());
  const std::string before = read(0, kBlockBytes);
  const Status other = open({{0x11, 0x22}, "node-1", 0}).status();
  EXPECT_EQ(other.code(), KV_SEGMENT_FOREIGN);
  EXPECT_NE(other.text().find("belongs to node node-0"), std::string::npos) << other.text();
  EXPECT_EQ(read(0, kBlockBytes), before);
}

TEST_F(TierDeviceTest, WhatFileSystemsLeaveThereIsLeftAlone) {
  struct Mark {
    uint64_t at;
    std::string magic;
  };
  // ext4, md 1.2, btrfs, and the last byte that is looked at.
  for (const Mark& mark :
       std::vector<Mark>{{1080, "\x53\xef"}, {4096, "\xfc\x4e\x2b\xa9"}, {65600, "_BHRfS_M"}, {(1 << 20) - 1, "x"}}) {
    write(mark.at, mark.magic);
    const Status refused = open().status();
    EXPECT_EQ(refused.code(), KV_SEGMENT_FOREIGN) << mark.at << ": " << refused.text();
    EXPECT_NE(refused.text().find("overwrite its first 1048576 bytes with zeros"), std::string::npos) << refused.text();
    EXPECT_EQ(read(mark.at, mark.magic.size()), mark.magic);
    write(mark.at, std::string(mark.magic.size(), '\0'));
  }
  EXPECT_TRUE(open().ok()) << "all of it is zero again";
}

TEST_F(TierDeviceTest, ATooSmallOneIsRefused) {
  const test::LoopDevice small{kDeviceTier / 2};
  ASSERT_TRUE(small.valid());
  const Status refused = openTier({small.path(), kDeviceTier, kIdentity, "", kNumber, std::nullopt}).status();
  EXPECT_EQ(refused.code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(refused.text().find("it must have 16 MiB"), std::string::npos) << refused.text();
}

TEST_F(TierDeviceTest, WhatLayOpenIsGoneWhenItIsToBeEncrypted) {
  const std::string known = "bytes that a look at the device would find";
  {
    const Result<TierFile> plain = open();
    ASSERT_TRUE(plain.ok()) << plain.status().text();
    write(plain.value().header.dataOffset, known);
    write(kTableOffset, known);
  }
  for (const bool created : {true, false}) {
    Result<TierFile> sealed = openTier({device.path(), kDeviceTier, kIdentity, "", kNumber + 2, test::kKey});
    ASSERT_TRUE(sealed.ok()) << sealed.status().text();
    EXPECT_EQ(sealed.value().created, created);
    ASSERT_EQ(sealed.value().warnings.size(), created ? 1u : 0u);
    Table table(sealed.value().header);
    const auto alive = [](const ObjectId&, std::string_view) { return Table::Fate::Alive; };
    EXPECT_EQ(loadTable(*sealed.value().device, table, alive).value().dropped(), 0u) << "records of the one before";
  }
  EXPECT_EQ(read(0, 2 * kDeviceTier).find(known), std::string::npos);
}

}  // namespace
}  // namespace kvpool::ssd
