// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "seed.h"

namespace kvpool {
namespace {

std::vector<uint8_t> randomBytes(test::Dice& dice, size_t length) {
  std::vector<uint8_t> bytes(length);
  for (uint8_t& byte : bytes)
    byte = static_cast<uint8_t>(dice.next());
  return bytes;
}

// Vectors of RFC 3720, appendix B.4.
TEST(Crc32c, KnownValues) {
  std::array<uint8_t, 32> bytes{};
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x8A9136AAu);
  bytes.fill(0xFF);
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x62A8AB43u);
  for (uint8_t i = 0; i < 32; ++i)
    bytes[i] = i;
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x46DD794Eu);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(crc32c(nullptr, 0), 0u);
  EXPECT_EQ(crc32c(nullptr, 0, 77), 77u);
}

TEST(Crc32c, EveryWayAgreesAtEveryLengthAndAlignment) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (int round = 0; round < 300; ++round) {
    const size_t length = round < 100 ? static_cast<size_t>(round) : dice.below(20000);
    const size_t shift = dice.below(8);
    const auto before = static_cast<uint32_t>(dice.next());
    const std::vector<uint8_t> source = randomBytes(dice, length + shift);
    const uint32_t expected = crc::portable(source.data() + shift, length, before);

    std::vector<uint8_t> copy(length + 9, 0xEE);
    EXPECT_EQ(crc::portableCopy(copy.data() + 1, source.data() + shift, length, before), expected);
    if (crc::hasHardware()) {
      EXPECT_EQ(crc::hardware(source.data() + shift, length, before), expected);
      std::fill(copy.begin(), copy.end(), uint8_t{0xEE});
      EXPECT_EQ(crc::hardwareCopy(copy.data() + 1, source.data() + shift, length, before, false), expected);
    }
    if (crc::hasFolding()) {
      EXPECT_EQ(crc::folding(source.data() + shift, length, before), expected);
      std::fill(copy.begin(), copy.end(), uint8_t{0xEE});
      EXPECT_EQ(crc::foldingCopy(copy.data() + 1, source.data() + shift, length, before, false), expected);
    }
    EXPECT_TRUE(std::equal(source.begin() + static_cast<long>(shift), source.end(), copy.begin() + 1));
    EXPECT_EQ(copy.front(), 0xEE) << "wrote in front of the destination";
    EXPECT_EQ(copy[length + 1], 0xEE) << "wrote behind the destination";
  }
}

/// Long copies go past the cache in whole cache lines, with a head and a tail around them.
void copyAtEveryAlignment(uint32_t (*copyAs)(void*, const void*, size_t, uint32_t, bool), size_t lengthMin) {
  const uint64_t seed = test::seed(3);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  const std::vector<uint8_t> source = randomBytes(dice, (size_t{600} << 10) + 64);
  for (size_t round = 0; round < 130; ++round) {
    const size_t length = lengthMin + (round < 65 ? round : dice.below(size_t{344} << 10));
    const size_t from = dice.below(64);
    const size_t to = 1 + round % 64;
    const auto before = static_cast<uint32_t>(dice.next());
    std::vector<uint8_t> copy(length + 66, 0xEE);
    EXPECT_EQ(copyAs(copy.data() + to, source.data() + from, length, before, true),
              crc::portable(source.data() + from, length, before));
    EXPECT_TRUE(std::equal(copy.begin() + static_cast<long>(to), copy.begin() + static_cast<long>(to + length),
                           source.begin() + static_cast<long>(from)));
    EXPECT_EQ(copy[to - 1], 0xEE) << "wrote in front of the destination";
    EXPECT_EQ(copy[to + length], 0xEE) << "wrote behind the destination";
  }
}

TEST(Crc32c, LongCopiesAreExactAtEveryAlignment) {
  if (crc::hasHardware()) copyAtEveryAlignment(crc::hardwareCopy, crc::kStreamBytes);
  if (crc::hasFolding()) copyAtEveryAlignment(crc::foldingCopy, crc::kStreamBytes);
}

TEST(Crc32c, TheSmallestPartsOfLongCopiesAreExactAtEveryAlignment) {
  if (crc::hasHardware()) copyAtEveryAlignment(crc::hardwareCopy, crc::kStreamedPartBytes);
  if (crc::hasFolding()) copyAtEveryAlignment(crc::foldingCopy, crc::kStreamedPartBytes);
}

TEST(Crc32c, ChunksGiveTheSameAsTheWhole) {
  test::Dice dice(test::seed(2));
  const std::vector<uint8_t> bytes = randomBytes(dice, 50000);
  uint32_t chunked = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = std::min<size_t>(1 + dice.below(9000), bytes.size() - at);
    chunked = crc32c(bytes.data() + at, length, chunked);
    at += length;
  }
  EXPECT_EQ(chunked, crc32c(bytes.data(), bytes.size()));
}

}  // namespace
}  // namespace kvpool
