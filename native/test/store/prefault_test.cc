// SPDX-License-Identifier: Apache-2.0
#include "store/prefault.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "store/mapping.h"
#include "store/segment_guard.h"

namespace kvpool::store {
namespace {

constexpr uint64_t kBytes = uint64_t{48} << 20;

class PrefaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = Fd(::memfd_create("prefault-test", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file_.get(), kBytes), 0);
    Result<Mapping> mapped = Mapping::map(file_.get(), kBytes, true);
    ASSERT_TRUE(mapped.ok());
    mapping_ = std::move(mapped.value());
  }

  void waitForAll(const Prefault& prefault) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (prefault.doneBytes() < prefault.totalBytes() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(prefault.doneBytes(), mapping_.bytes().size());
  }

  /// Pages that this mapping has, as the kernel tells.
  [[nodiscard]] size_t residentPages() const {
    std::vector<unsigned char> resident(kBytes / pageBytes_);
    EXPECT_EQ(::mincore(mapping_.bytes().data(), kBytes, resident.data()), 0);
    return static_cast<size_t>(
        std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return page & 1; }));
  }

  const uint64_t pageBytes_ = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  Fd file_;
  Mapping mapping_;
};

TEST_F(PrefaultTest, MakesEveryPagePresentAndChangesNone) {
  for (uint64_t at = 0; at < kBytes; at += 3 * pageBytes_)
    mapping_.bytes()[at] = static_cast<uint8_t>(at / pageBytes_);
  ASSERT_LT(residentPages(), kBytes / pageBytes_);
  Prefault prefault(mapping_.bytes(), 3);
  waitForAll(prefault);
  EXPECT_EQ(residentPages(), kBytes / pageBytes_);
  for (uint64_t page = 0; page < kBytes / pageBytes_; ++page)
    ASSERT_EQ(mapping_.bytes()[page * pageBytes_], page % 3 == 0 ? static_cast<uint8_t>(page) : 0) << page;
}

TEST_F(PrefaultTest, KeepsWhatIsWrittenMeanwhile) {
  const std::span<uint8_t> bytes = mapping_.bytes();
  std::thread writer([&] {
    for (uint64_t at = 0; at < kBytes; at += pageBytes_)
      __atomic_store_n(&bytes[at], uint8_t{7}, __ATOMIC_RELAXED);
  });
  detail::touchPages(bytes, pageBytes_);
  writer.join();
  for (uint64_t at = 0; at < kBytes; at += pageBytes_)
    ASSERT_EQ(bytes[at], 7) << at;
  EXPECT_EQ(residentPages(), kBytes / pageBytes_);
}

TEST_F(PrefaultTest, EndsInTheMiddleWhenAsked) {
  Prefault prefault(mapping_.bytes(), 2);
  prefault.stop();
  const uint64_t done = prefault.doneBytes();
  EXPECT_LE(done, kBytes);
  prefault.stop();
  EXPECT_EQ(prefault.doneBytes(), done) << "nothing runs any more";
}

TEST_F(PrefaultTest, AFileCutShortEndsItAndNotTheProcess) {
  const SegmentGuard guard(mapping_.bytes());
  ASSERT_EQ(::ftruncate(file_.get(), 4096), 0);
  Prefault prefault(mapping_.bytes(), 1);
  prefault.stop();
  EXPECT_LT(prefault.doneBytes(), kBytes);
}

TEST(PrefaultReport, IsSilentAboutWhatTakesNoTime) {
  PrefaultReport report(kBytes, 100);
  EXPECT_EQ(report.progress(1099, kBytes / 2), std::nullopt);
  EXPECT_EQ(report.finished(1100), std::nullopt);
}

TEST(PrefaultReport, SaysHowFarItIsEveryFiveSeconds) {
  PrefaultReport report(kBytes, 100);
  EXPECT_EQ(report.progress(1100, kBytes / 4),
            "prefaulting the segment: 12 MiB of 48 MiB; objects are served meanwhile");
  EXPECT_EQ(report.progress(6099, kBytes / 3), std::nullopt);
  EXPECT_TRUE(report.progress(6100, kBytes / 2));
  EXPECT_EQ(report.finished(8100), "prefaulted the segment: 48 MiB in 8000 ms");
}

TEST(PrefaultThreads, AreHalfOfTheProcessorsWithinBounds) {
  EXPECT_EQ(prefaultThreads(0), 1u) << "the number of processors may be unknown";
  EXPECT_EQ(prefaultThreads(1), 1u);
  EXPECT_EQ(prefaultThreads(6), 3u);
  EXPECT_EQ(prefaultThreads(192), 8u);
}

}  // namespace
}  // namespace kvpool::store
