// SPDX-License-Identifier: Apache-2.0
// Tiers as files of a real file system.
#include "ssd/tier_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/crc32c.h"
#include "ssd/small_tier.h"
#include "ssd/workers.h"
#include "store/set_aside.h"
#include "temporary_directory.h"

namespace kvpool::ssd {
namespace {

using test::kIdentity;
using test::kNumber;

constexpr uint64_t kBytes = kTierBytesMin;

class TierFileTest : public ::testing::Test {
 protected:
  Result<TierFile> open(const store::SegmentIdentity& identity = kIdentity, uint64_t bytes = kBytes) {
    return openTier({directory.path(), bytes, identity, "20260101T000000Z", kNumber, std::nullopt});
  }
  [[nodiscard]] std::string file() const { return directory.path() + "/ssd-0.kvt"; }
  [[nodiscard]] std::string aside(const std::string& reason) const {
    return file() + ".set-aside-" + reason + "-20260101T000000Z";
  }

  test::TemporaryDirectory directory;
};

/// No file of this process may grow, or be written, beyond so many bytes: the kernel refuses as a full disk would.
class LimitOfFiles {
 public:
  explicit LimitOfFiles(uint64_t bytes) {
    ignored_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~LimitOfFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, ignored_);
  }
  LimitOfFiles(const LimitOfFiles&) = delete;
  LimitOfFiles& operator=(const LimitOfFiles&) = delete;

 private:
  rlimit before_{};
  sighandler_t ignored_ = nullptr;
};

std::string lastWarning(const TierFile& tier) {
  return tier.warnings.empty() ? "" : tier.warnings.front();
}

TEST_F(TierFileTest, IsMadeWholeAndFoundAgain) {
  {
    const Result<TierFile> made = open();
    ASSERT_TRUE(made.ok()) << made.status().text();
    EXPECT_TRUE(made.value().created);
    EXPECT_EQ(std::filesystem::file_size(file()), kBytes);
    struct stat info {};
    ASSERT_EQ(::stat(file().c_str(), &info), 0);
    EXPECT_GE(static_cast<uint64_t>(info.st_blocks) * 512, kBytes) << "a sparse file ends when the disk is full";
  }
  const Result<TierFile> again = open();
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_FALSE(again.value().created);
  EXPECT_EQ(again.value().header.number, kNumber);
}

TEST_F(TierFileTest, BelongsToOneProcess) {
  const Result<TierFile> first = open();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(open().status().code(), KV_SEGMENT_IN_USE);
}

TEST_F(TierFileTest, SomebodyElsesIsSetAsideAndNotDeleted) {
  ASSERT_TRUE(open().ok());
  const Result<TierFile> other = open({{0x11, 0x22}, "node-1", 0});
  ASSERT_TRUE(other.ok()) << other.status().text();
  EXPECT_TRUE(other.value().created);
  EXPECT_NE(lastWarning(other.value()).find("belongs to node node-0"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(aside("foreign")), kBytes);
}

TEST_F(TierFileTest, WhatWasSetAsideInTheSameSecondStays) {
  std::ofstream(aside("foreign")) << "of before";
  ASSERT_TRUE(open().ok());
  const Result<TierFile> other = open({{0x11, 0x22}, "node-1", 0});
  ASSERT_TRUE(other.ok()) << other.status().text();
  EXPECT_EQ(std::filesystem::file_size(aside("foreign")), std::string("of before").size());
  EXPECT_EQ(std::filesystem::file_size(aside("foreign") + "-2"), kBytes);
  std::filesystem::remove(aside("foreign"));
  std::filesystem::remove(aside("foreign") + "-2");
}

TEST_F(TierFileTest, DamagedAndCutFilesAreSetAside) {
  std::ofstream(file()) << "something else";
  const Result<TierFile> small = open();
  ASSERT_TRUE(small.ok()) << small.status().text();
  EXPECT_NE(lastWarning(small.value()).find("is no SSD tier"), std::string::npos);
  store::AsideFiles aside;
  store::countAside(directory.path(), kTierFileName, aside);
  EXPECT_EQ(aside.damaged, 1u);
  EXPECT_EQ(aside.foreign, 0u);
}

TEST_F(TierFileTest, ACutFileIsNoticedAtTheNextStart) {
  ASSERT_TRUE(open({{0x11, 0x22}, "node-0", 0}, 2 * kBytes).ok());
  std::filesystem::resize_file(file(), kBytes);
  const Result<TierFile> cut = open();
  ASSERT_TRUE(cut.ok()) << cut.status().text();
  EXPECT_NE(lastWarning(cut.value()).find("cut short"), std::string::npos) << lastWarning(cut.value());
}

TEST_F(TierFileTest, AFileKeepsItsSizeAndSaysSo) {
  ASSERT_TRUE(open().ok());
  const Result<TierFile> larger = open(kIdentity, 2 * kBytes);
  ASSERT_TRUE(larger.ok());
  EXPECT_EQ(larger.value().header.tierBytes, kBytes);
  EXPECT_NE(lastWarning(larger.value()).find("keeps its"), std::string::npos);
}

TEST_F(TierFileTest, MoreThanTheDiskHasIsRefusedAndLeavesNothing) {
  const Result<TierFile> huge = open(kIdentity, kTierBytesMax);
  ASSERT_FALSE(huge.ok());
  EXPECT_EQ(huge.status().code(), KV_IO);
  EXPECT_NE(huge.status().text().find("left; ask for a smaller tier"), std::string::npos) << huge.status().text();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path())) << huge.status().text();
}

TEST_F(TierFileTest, ALimitOfTheFileSystemIsFoundAtTheStartAndNotLater) {
  const LimitOfFiles limit(kBytes / 2);
  const Result<TierFile> limited = open();
  ASSERT_FALSE(limited.ok());
  EXPECT_EQ(limited.status().code(), KV_IO);
  EXPECT_NE(limited.status().text().find("or a limit on it, has less"), std::string::npos) << limited.status().text();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(TierFileTest, AMissingDirectoryIsNamed) {
  const Status missing = openTier({directory.path() + "/none", kBytes, kIdentity, "", kNumber, std::nullopt}).status();
  EXPECT_EQ(missing.code(), KV_IO);
  EXPECT_NE(missing.text().find("/none"), std::string::npos);
}

/// What an object leaves on the medium, and whether a look at all of its bytes finds it.
class TierAtRest : public TierFileTest {
 protected:
  static constexpr SealKey kOtherKey{3, 2, 1};

  Result<TierFile> openWith(const std::optional<SealKey>& key) const {
    return openTier({directory.path(), kBytes, kIdentity, "", kNumber, key});
  }
  static uint64_t restored(TierFile& tier) {
    Table table(tier.header);
    const auto alive = [](const ObjectId&, std::string_view) { return Table::Fate::Alive; };
    const Result<TierRecovery> recovery = loadTable(*tier.device, table, alive);
    EXPECT_TRUE(recovery.ok()) << recovery.status().text();
    EXPECT_EQ(recovery.value().dropped(), 0u);
    return recovery.value().restored;
  }
  static void put(TierFile& tier) {
    Table table(tier.header);
    const std::string& value = kValue;
    const std::span payload(reinterpret_cast<const uint8_t*>(value.data()), value.size());
    const uint32_t slot = table.begin({1, 1}, kKnownKey, value.size(), crc32c(value), {}).value();
    const uint64_t at = table.slot(slot).object.extent.offset;
    EXPECT_TRUE(perform(*tier.device, WritePayload{1, payload, at, crc32c(value)}).status.ok());
    table.written(slot);
    const auto batch = std::make_shared<const Table::Batch>(table.takeDirty(16));
    EXPECT_TRUE(perform(*tier.device, StoreBlocks{batch}).status.ok());
    const Done read = perform(*tier.device, ReadPayload{2, at, value.size(), crc32c(value)});
    EXPECT_TRUE(read.status.ok()) << read.status.text();
  }
  [[nodiscard]] bool shows(std::string_view known) const {
    std::ifstream in(file(), std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(all.size(), kBytes);
    return all.find(known) != std::string::npos;
  }

  static constexpr std::string_view kKnownKey = "a key that a look at the disk would find";
  static inline const std::string kValue = std::string(5000, '-') + "bytes that a look at the disk would find";
  static inline const std::string_view kKnownBytes = std::string_view(kValue).substr(5000);
};

TEST_F(TierAtRest, NeitherKeysNorBytesLieOnTheDeviceAndTheKeyFindsThem) {
  {
    Result<TierFile> plain = openWith(std::nullopt);
    put(plain.value());
    ASSERT_TRUE(shows(kKnownKey) && shows(kKnownBytes)) << "without encryption a look at it finds them";
  }
  {
    Result<TierFile> sealed = openWith(test::kKey);
    ASSERT_TRUE(sealed.ok()) << sealed.status().text();
    EXPECT_TRUE(sealed.value().created);
    EXPECT_EQ(lastWarning(sealed.value()),
              file() + " was emptied because what it held was not encrypted, and is to be");
    EXPECT_FALSE(shows(kKnownKey) || shows(kKnownBytes)) << "what was there before";
    EXPECT_EQ(restored(sealed.value()), 0u);
    put(sealed.value());
    EXPECT_FALSE(shows(kKnownKey) || shows(kKnownBytes));
  }
  Result<TierFile> again = openWith(test::kKey);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_FALSE(again.value().created);
  EXPECT_EQ(lastWarning(again.value()), "");
  EXPECT_EQ(restored(again.value()), 1u);
}

TEST_F(TierAtRest, WithAnotherKeyOrNoneItIsEmpty) {
  for (const auto& [key, why] : {std::pair{std::optional<SealKey>(kOtherKey), "it was encrypted with another key"},
                                 std::pair{std::optional<SealKey>(), "it was encrypted, and no key was given"}}) {
    {
      Result<TierFile> sealed = openWith(test::kKey);
      ASSERT_TRUE(sealed.ok()) << sealed.status().text();
      put(sealed.value());
    }
    Result<TierFile> other = openWith(key);
    ASSERT_TRUE(other.ok()) << other.status().text();
    EXPECT_TRUE(other.value().created);
    EXPECT_EQ(lastWarning(other.value()), file() + " was emptied because " + why);
    EXPECT_EQ(restored(other.value()), 0u);
  }
}

/// A tier over the real file, worked by threads.
class WorkersTest : public TierFileTest {
 protected:
  WorkersTest() : tier(std::move(open().value())), table(tier.header) {
    static_cast<void>(
        loadTable(*tier.device, table, [](const ObjectId&, std::string_view) { return Table::Fate::Alive; }));
  }
  /// Waits for as many jobs as were submitted.
  std::vector<Done> finish(std::vector<Job> jobs) {
    std::atomic<int> notified{0};
    std::vector<Done> all;
    Workers workers(*tier.device, [&] {
      ++notified;
      notified.notify_one();
    });
    for (const Job& job : jobs)
      workers.submit(job);
    for (int seen = 0; all.size() < jobs.size();) {
      notified.wait(seen);
      seen = notified;  // before they are taken: one that comes behind is waited for
      for (Done& done : workers.takeDone())
        all.push_back(std::move(done));
    }
    return all;
  }
  static std::span<const uint8_t> bytes(const std::string& value) {
    return {reinterpret_cast<const uint8_t*>(value.data()), value.size()};
  }

  TierFile tier;
  Table table;
};

TEST_F(WorkersTest, PayloadsOfAllSizesComeBackAsTheyWere) {
  std::map<uint64_t, std::string> values;
  std::vector<Job> writes;
  std::vector<Job> reads;
  uint64_t at = tier.header.dataOffset;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{9} << 20}) {
    const uint64_t op = values.size() + 1;
    std::string& value = values[op];
    for (size_t i = 0; i < size; ++i)
      value.push_back(static_cast<char>(i * 31 + op));
  }
  for (const auto& [op, value] : values) {
    writes.emplace_back(WritePayload{op, bytes(value), at, crc32c(value)});
    reads.emplace_back(ReadPayload{op, at, value.size(), crc32c(value)});
    at += tierExtentBytes(value.size());
  }
  for (const Done& done : finish(writes))
    EXPECT_TRUE(done.status.ok()) << done.status.text();
  for (const Done& done : finish(reads)) {
    const auto& read = std::get<ReadPayload>(done.job);
    ASSERT_TRUE(done.status.ok()) << done.status.text();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(done.payload.bytes().data()), read.length), values[read.op]);
  }
}

TEST_F(WorkersTest, AWrongChecksumIsToldOnBothWays) {
  const std::string value(5000, 'v');
  const uint64_t at = tier.header.dataOffset;
  EXPECT_EQ(finish({WritePayload{1, bytes(value), at, 7}}).at(0).status.code(), KV_CHECKSUM);
  EXPECT_EQ(finish({ReadPayload{1, at, value.size(), 7}}).at(0).status.code(), KV_CHECKSUM);
}

TEST_F(WorkersTest, WhatTheFileSystemRefusesIsToldWithThePlace) {
  const std::string value(5000, 'v');
  const uint64_t at = tier.header.dataOffset + (uint64_t{8} << 20);
  const LimitOfFiles limit(at);
  const Status refused = finish({WritePayload{1, bytes(value), at, crc32c(value)}}).at(0).status;
  EXPECT_EQ(refused.code(), KV_IO);
  EXPECT_NE(refused.text().find("write to " + file() + " at " + std::to_string(at)), std::string::npos)
      << refused.text();
  EXPECT_TRUE(finish({WritePayload{1, bytes(value), tier.header.dataOffset, crc32c(value)}}).at(0).status.ok());
}

TEST_F(WorkersTest, AFileThatIsCutBelowIsAnErrorAndNotZeros) {
  const std::string value(5000, 'v');
  const uint64_t at = tier.header.dataOffset + (uint64_t{8} << 20);
  ASSERT_TRUE(finish({WritePayload{1, bytes(value), at, crc32c(value)}}).at(0).status.ok());
  std::filesystem::resize_file(file(), at);
  const Status cut = finish({ReadPayload{1, at, value.size(), crc32c(value)}}).at(0).status;
  EXPECT_EQ(cut.code(), KV_IO);
  EXPECT_NE(cut.text().find("cut it short"), std::string::npos) << cut.text();
}

}  // namespace
}  // namespace kvpool::ssd
