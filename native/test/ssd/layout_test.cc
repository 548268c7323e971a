// SPDX-License-Identifier: Apache-2.0
#include "ssd/layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "seed.h"
#include "ssd/small_tier.h"

namespace kvpool::ssd {
namespace {

using test::kGeometry;
using test::kHeader;
using test::kIdentity;
using test::kNumber;

Described someObject() {
  Described object;
  object.objectId = {7, 42};
  object.key = "key-42";
  object.generation = 9;
  object.extent = {kGeometry.dataOffset + 8 * kBlockBytes, 2 * kBlockBytes};
  object.payloadLength = kBlockBytes + 1;
  object.payloadCrc = 0x12345678;
  object.retention = {kPinSoft, 500, 77};
  return object;
}

TEST(TierLayout, TablesAndDataNeverMeetWhateverTheSize) {
  for (uint64_t bytes = kTierBytesMin; bytes < kTierBytesMax; bytes = bytes * 3 / 2 + 12345) {
    const std::optional<TierGeometry> geometry = planTier(bytes);
    ASSERT_TRUE(geometry);
    EXPECT_EQ(geometry->slots % kRecordsPerBlock, 0U);
    EXPECT_EQ(geometry->dataOffset, kTableOffset + uint64_t{geometry->slots} * sizeof(TierRecord));
    EXPECT_EQ(geometry->dataBytes % kBlockBytes, 0U);
    EXPECT_LE(geometry->dataOffset + geometry->dataBytes, bytes);
    EXPECT_GT(geometry->dataBytes, bytes / 10 * 9);
  }
  EXPECT_FALSE(planTier(kTierBytesMin - 1));
  EXPECT_FALSE(planTier(kTierBytesMax + 1));
}

TEST(TierLayout, ARecordComesBackAsItWas) {
  std::vector<uint8_t> bytes(sizeof(TierRecord));
  encodeRecord(bytes, 3, 99, someObject());
  Described back;
  ASSERT_EQ(decodeRecord(bytes, 3, 99, kGeometry, &back), Finding::Whole);
  EXPECT_EQ(back.objectId, (ObjectId{7, 42}));
  EXPECT_EQ(back.key, "key-42");
  EXPECT_EQ(back.generation, 9U);
  EXPECT_EQ(back.extent, someObject().extent);
  EXPECT_EQ(back.payloadLength, kBlockBytes + 1);
  EXPECT_EQ(back.payloadCrc, 0x12345678U);
  EXPECT_EQ(back.retention, someObject().retention);
  EXPECT_EQ(decodeRecord(bytes, 4, 99, kGeometry, &back), Finding::Foreign) << "it belongs to slot 3";
  EXPECT_EQ(decodeRecord(bytes, 3, 98, kGeometry, &back), Finding::Foreign) << "an earlier tier left it";
}

TEST(TierLayout, AFreeRecordKeepsItsGeneration) {
  std::vector<uint8_t> bytes(sizeof(TierRecord));
  Described back;
  EXPECT_EQ(decodeRecord(bytes, 3, 99, kGeometry, &back), Finding::Free);
  EXPECT_EQ(back.generation, 0U);
  encodeFree(bytes, 3, 99, 17);
  EXPECT_EQ(decodeRecord(bytes, 3, 99, kGeometry, &back), Finding::Free);
  EXPECT_EQ(back.generation, 17U);
}

TEST(TierLayout, EveryChangedByteIsSeen) {
  std::vector<uint8_t> bytes(sizeof(TierRecord));
  encodeRecord(bytes, 3, 99, someObject());
  for (size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= 0x40;
    Described back;
    EXPECT_EQ(decodeRecord(bytes, 3, 99, kGeometry, &back), Finding::Torn) << "byte " << at;
    bytes[at] ^= 0x40;
  }
}

TEST(TierLayout, WholeRecordsThatCannotBeAreInvalid) {
  const auto found = [](auto change) {
    Described object = someObject();
    change(object);
    std::vector<uint8_t> bytes(sizeof(TierRecord));
    encodeRecord(bytes, 3, 99, object);
    Described back;
    return decodeRecord(bytes, 3, 99, kGeometry, &back);
  };
  EXPECT_EQ(found([](Described&) {}), Finding::Whole);
  EXPECT_EQ(found([](Described& o) { o.generation = 0; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.generation = UINT64_MAX; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.key.clear(); }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.key = "\xff"; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.extent.offset += 512; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.extent.offset = 0; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.extent.offset = kGeometry.dataOffset + kGeometry.dataBytes; }),
            Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.extent.length += kBlockBytes; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.payloadLength = UINT64_MAX; }), Finding::Invalid);
  EXPECT_EQ(found([](Described& o) { o.retention.pins = 0x80; }), Finding::Invalid);
}

TEST(TierLayout, ARecordOfMoreThanMayBeReadIsInvalid) {
  const TierGeometry large = *planTier(uint64_t{1} << 30);
  Described object = someObject();
  object.extent.offset = large.dataOffset;
  for (const uint64_t over : {uint64_t{0}, uint64_t{1}}) {
    object.payloadLength = kTierPayloadBytesMax + over;
    object.extent.length = tierExtentBytes(object.payloadLength);
    std::vector<uint8_t> bytes(sizeof(TierRecord));
    encodeRecord(bytes, 3, 99, object);
    Described back;
    EXPECT_EQ(decodeRecord(bytes, 3, 99, large, &back), over == 0 ? Finding::Whole : Finding::Invalid);
  }
}

/// The blocks before the table, with headers as they come one after the other.
class TierHeaders : public ::testing::Test {
 protected:
  TierHeader store(const TierHeader& header) {
    encodeHeader(std::span(blocks).subspan(headerOffset(header), kBlockBytes), header);
    return header;
  }
  [[nodiscard]] TierCheck check(const store::SegmentIdentity& expected = kIdentity,
                                uint64_t bytes = kTierBytesMin) const {
    return checkTier(blocks, bytes, expected);
  }
  /// A byte of the block where this header lies.
  uint8_t& byte(size_t at, const TierHeader& header) { return blocks[headerOffset(header) + at]; }

  std::vector<uint8_t> blocks = std::vector<uint8_t>(kTableOffset);
};

TEST_F(TierHeaders, OfOthersAreTold) {
  EXPECT_EQ(check().verdict, TierVerdict::Empty);
  store(nextHeader(kHeader, {}));
  EXPECT_EQ(check().verdict, TierVerdict::Fits);
  EXPECT_EQ(geometryOf(check().header), kGeometry);
  EXPECT_EQ(check().header.number, kNumber);
  EXPECT_EQ(check({{0x11, 0x22}, "node-1", 0}).verdict, TierVerdict::Foreign);
  EXPECT_EQ(check({{0x11, 0x23}, "node-0", 0}).verdict, TierVerdict::Foreign);
  const TierCheck cut = check(kIdentity, kTierBytesMin - 1);
  EXPECT_EQ(cut.verdict, TierVerdict::Damaged);
  EXPECT_NE(cut.why.find("cut short"), std::string::npos) << cut.why;
}

TEST_F(TierHeaders, TheNewerOneCounts) {
  TierHeader header = kHeader;
  for (uint64_t counter = 1; counter <= 5; ++counter) {
    header = store(nextHeader(header, {7, counter}));
    EXPECT_EQ(check().verdict, TierVerdict::Fits) << check().why;
    EXPECT_EQ(purgeIdOf(check().header), (ObjectId{7, counter}));
  }
}

TEST_F(TierHeaders, ATornOneLeavesTheOlderOne) {
  const TierHeader older = store(nextHeader(kHeader, {7, 1}));
  const TierHeader newer = store(nextHeader(older, {7, 2}));
  for (size_t at = offsetof(TierHeader, headerBytes); at < sizeof(TierHeader); ++at) {
    byte(at, newer) ^= 1;
    EXPECT_EQ(check().verdict, TierVerdict::Fits) << "byte " << at;
    EXPECT_EQ(purgeIdOf(check().header), (ObjectId{7, 1})) << "byte " << at;
    byte(at, older) ^= 1;
    EXPECT_EQ(check().verdict, TierVerdict::Damaged) << "byte " << at << " of both";
    byte(at, newer) ^= 1;
    EXPECT_EQ(purgeIdOf(check().header), (ObjectId{7, 2})) << "byte " << at << " of the older one";
    byte(at, older) ^= 1;
  }
}

TEST_F(TierHeaders, ADeviceThatHasAnotherLabelMeanwhileIsLeftAlone) {
  const TierHeader older = store(nextHeader(kHeader, {7, 1}));
  const TierHeader newer = store(nextHeader(older, {7, 2}));
  for (const TierHeader& one : {older, newer}) {
    byte(0, one) ^= 1;
    EXPECT_EQ(check().verdict, TierVerdict::Damaged);
    EXPECT_NE(check().why.find("does not begin like"), std::string::npos) << check().why;
    byte(0, one) ^= 1;
  }
}

TEST_F(TierHeaders, OneThatLandedInTheOtherBlockCountsNotThere) {
  const TierHeader older = store(nextHeader(kHeader, {7, 1}));
  encodeHeader(std::span(blocks).subspan(headerOffset(older), kBlockBytes), nextHeader(older, {7, 2}));
  EXPECT_EQ(check().verdict, TierVerdict::Damaged);
}

TEST_F(TierHeaders, ANewerFormatInEitherBlockIsLeftAlone) {
  const TierHeader older = store(nextHeader(kHeader, {}));
  const TierHeader newer = store(nextHeader(older, {}));
  for (const TierHeader& one : {older, newer}) {
    byte(offsetof(TierHeader, version), one) = kTierVersion + 1;
    EXPECT_EQ(check().verdict, TierVerdict::Newer);
    EXPECT_NE(check().why.find("version " + std::to_string(kTierVersion + 1)), std::string::npos) << check().why;
    byte(offsetof(TierHeader, version), one) = kTierVersion;
  }
  EXPECT_EQ(check().verdict, TierVerdict::Fits);
}

}  // namespace
}  // namespace kvpool::ssd
