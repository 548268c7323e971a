// SPDX-License-Identifier: Apache-2.0
// Segment files of nodes that lie: cut short, of another size than was said, with a header or records that name what
// is not there. A client maps none of them, or finds nothing in them.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "client/shell/segment_view.h"
#include "seed.h"
#include "store/segment_in_memory.h"

namespace kvpool::client {
namespace {

class LyingSegment : public ::testing::Test {
 protected:
  static constexpr ObjectId kObject{1, 1};

  LyingSegment() {
    extent_ = segment_.put(kObject, "key", value_);
    offset_ = segment_.directory->slot(extent_.slot).payloadOffset();
  }
  /// A file with what the segment holds now, `bytes` of it.
  Fd file(uint64_t bytes) const {
    Fd memfd(::memfd_create("segment", MFD_CLOEXEC));
    EXPECT_EQ(::pwrite(memfd.get(), segment_.memory.data(), segment_.memory.size(), 0),
              static_cast<ssize_t>(segment_.memory.size()));
    EXPECT_EQ(::ftruncate(memfd.get(), static_cast<off_t>(bytes)), 0);
    return memfd;
  }
  int32_t mapped(uint64_t bytes, uint64_t said) const { return SegmentView::map(file(bytes), said).status().code(); }
  store::SegmentHeader& header() { return *reinterpret_cast<store::SegmentHeader*>(segment_.memory.data()); }
  store::DirectoryRecord& record() {
    return *reinterpret_cast<store::DirectoryRecord*>(segment_.memory.data() + store::recordOffset(extent_.slot));
  }
  bool found(SegmentView& view) const { return view.find(extent_, kObject, offset_, value_.size()) != nullptr; }

  test::SegmentInMemory segment_;
  const uint64_t size_ = segment_.memory.size();
  const std::string value_ = std::string(5000, 'v');
  uint64_t offset_ = 0;
  ExtentRef extent_;
};

TEST_F(LyingSegment, OfAnotherSizeThanWasSaidIsNotMapped) {
  EXPECT_EQ(mapped(size_, size_), KV_OK);
  EXPECT_EQ(mapped(size_ - 1, size_), KV_SEGMENT_FOREIGN) << "cut short";
  EXPECT_EQ(mapped(0, size_), KV_SEGMENT_FOREIGN);
  EXPECT_EQ(mapped(size_, 0), KV_SEGMENT_FOREIGN);
  EXPECT_EQ(mapped(size_, 4096), KV_SEGMENT_FOREIGN);
  EXPECT_EQ(mapped(size_, UINT64_MAX), KV_SEGMENT_FOREIGN);
  EXPECT_EQ(mapped(2 * size_, 2 * size_), KV_SEGMENT_LAYOUT) << "its header says another";
  EXPECT_FALSE(SegmentView::map(Fd(::eventfd(0, EFD_CLOEXEC)), size_).ok()) << "no file at all";
}

TEST_F(LyingSegment, WithAHeaderThatNamesWhatIsNotThereIsNotMapped) {
  const store::SegmentHeader good = header();
  const std::vector<std::function<void(store::SegmentHeader&)>> lies{
      [](store::SegmentHeader& h) { h.slots = UINT32_MAX; }, [](store::SegmentHeader& h) { ++h.slots; },
      [](store::SegmentHeader& h) { h.fileBytes *= 2; },     [](store::SegmentHeader& h) { h.dataOffset = UINT64_MAX; },
      [](store::SegmentHeader& h) { h.recordBytes = 1; },    [](store::SegmentHeader& h) { ++h.headerVersion; },
      [](store::SegmentHeader& h) { h.magic = 0; },
  };
  for (size_t lie = 0; lie < lies.size(); ++lie) {
    header() = good;
    lies[lie](header());
    header().crc = crc32c(&header(), offsetof(store::SegmentHeader, crc));
    EXPECT_EQ(mapped(size_, size_), KV_SEGMENT_LAYOUT) << lie;
  }
}

TEST_F(LyingSegment, RecordsThatReachOutOfTheFileAreNotFollowed) {
  const store::DirectoryRecord good = record();
  const std::vector<std::function<void(store::DirectoryRecord&)>> lies{
      [](store::DirectoryRecord& r) { r.offset = UINT64_MAX; },
      [&](store::DirectoryRecord& r) { r.offset = size_ - 64; },
      [](store::DirectoryRecord& r) { r.extentBytes = UINT64_MAX; },
      [](store::DirectoryRecord& r) { r.extentBytes = 64; },
      [](store::DirectoryRecord& r) { r.keyLength = UINT32_MAX; },
      [](store::DirectoryRecord& r) { r.payloadLength = UINT64_MAX; },
      [](store::DirectoryRecord& r) { ++r.slot; },
      [](store::DirectoryRecord& r) { ++r.generation; },
  };
  const auto seal = [&] { record().crc = store::recordCrc(record(), segment_.seal()); };
  for (size_t lie = 0; lie < lies.size(); ++lie) {
    record() = good;
    lies[lie](record());
    seal();
    const auto view = SegmentView::map(file(size_), size_);
    ASSERT_TRUE(view.ok());
    EXPECT_FALSE(found(*view.value())) << lie;
    // The same when the lie about where it is agrees with the leader's.
    EXPECT_EQ(view.value()->find(extent_, kObject, record().offset, record().payloadLength), nullptr) << lie;
  }
  const auto view = SegmentView::map(file(size_), size_);
  EXPECT_EQ(view.value()->find({0, UINT32_MAX, 1}, kObject, offset_, value_.size()), nullptr) << "no such slot";
}

TEST_F(LyingSegment, WithAnyBytesLeadsNowhereOutside) {
  const uint64_t value = test::seed(21);
  SCOPED_TRACE(test::seedTrace(value));
  test::Dice dice(value);
  const store::DirectoryRecord good = record();
  const Fd lying = file(size_);
  const auto view = SegmentView::map(lying, size_);
  ASSERT_TRUE(view.ok());
  for (int round = 0; round < 10000; ++round) {
    record() = good;
    auto* bytes = reinterpret_cast<uint8_t*>(&record());
    for (uint64_t changes = 1 + dice.below(8); changes > 0; --changes)
      bytes[dice.below(sizeof(store::DirectoryRecord))] = static_cast<uint8_t>(dice.next());
    record().crc = store::recordCrc(record(), segment_.seal());
    ASSERT_EQ(::pwrite(lying.get(), &record(), sizeof good, static_cast<off_t>(store::recordOffset(extent_.slot))),
              static_cast<ssize_t>(sizeof good));
    const uint64_t length = record().payloadLength;
    const uint64_t distance = store::payloadDistance(record().keyLength);
    const uint8_t* payload =
        view.value()->find({0, extent_.slot, record().generation}, {record().objectEpoch, record().objectCounter},
                           record().offset + distance, length);
    if (payload == nullptr) continue;
    ASSERT_LE(record().offset + distance + summedBytes(length).value(), size_);
    (void)crc32c(payload, length);
  }
}

}  // namespace
}  // namespace kvpool::client
