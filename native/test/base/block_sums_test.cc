// SPDX-License-Identifier: Apache-2.0
// The sums of a payload are the same in however many parts it comes, and nothing is noted around them.
#include "base/block_sums.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "seed.h"

namespace kvpool {
namespace {

TEST(BlockSums, AreOneForEachWholeBlock) {
  EXPECT_EQ(sumCount(0), 0u);
  EXPECT_EQ(sumCount(kSumBlockBytes - 1), 0u);
  EXPECT_EQ(sumCount(kSumBlockBytes), 1u);
  EXPECT_EQ(sumCount(2 * kSumBlockBytes + 1), 2u);
}

TEST(BlockSums, LieBehindThePayloadAtAMultipleOfTheirSize) {
  EXPECT_EQ(summedBytes(0), 0u);
  EXPECT_EQ(summedBytes(5), 8u);
  EXPECT_EQ(summedBytes(kSumBlockBytes + 5), kSumBlockBytes + 8 + 4);
  EXPECT_EQ(summedBytes(UINT64_MAX - 2), std::nullopt);
  EXPECT_EQ(summedBytes(UINT64_MAX / 4 * 4), std::nullopt) << "the payload fits, its sums do not";
}

TEST(BlockSums, AreTheSameInHoweverManyPartsThePayloadComes) {
  const uint64_t seed = test::seed(1);
  SCOPED_TRACE(test::seedTrace(seed));
  test::Dice dice(seed);
  for (const uint64_t length : {uint64_t{0}, uint64_t{5}, kSumBlockBytes - 1, kSumBlockBytes, kSumBlockBytes + 1,
                                3 * kSumBlockBytes, 5 * kSumBlockBytes + 1234}) {
    std::vector<uint8_t> payload(length);
    for (uint8_t& byte : payload)
      byte = static_cast<uint8_t>(dice.next());
    const uint64_t stored = *summedBytes(length);
    std::vector<uint8_t> added(stored + 8, 0xEE);
    std::vector<uint8_t> copied(stored + 8, 0xEE);
    std::copy(payload.begin(), payload.end(), added.begin());
    RunningSum adding = RunningSum::behind(added.data(), length);
    RunningSum copying = RunningSum::behind(copied.data(), length, true);
    for (uint64_t at = 0; at < length;) {
      const uint64_t part = std::min(length - at, 1 + dice.below(dice.oneIn(3) ? 200 : 3 * kSumBlockBytes));
      adding.add(added.data() + at, part);
      copying.copy(copied.data() + at, payload.data() + at, part);
      at += part;
    }
    const uint32_t crc = crc32c(payload.data(), length);
    EXPECT_EQ(adding.crc(), crc);
    EXPECT_EQ(copying.crc(), crc);
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), copied.begin()));
    for (uint64_t block = 0; block < sumCount(length); ++block) {
      const uint32_t sum = crc32c(payload.data(), (block + 1) * kSumBlockBytes);
      EXPECT_EQ(sumAt(sumsBehind(added.data(), length), block), sum);
      EXPECT_EQ(sumAt(sumsBehind(copied.data(), length), block), sum);
    }
    for (uint64_t at = stored; at < stored + 8; ++at) {
      EXPECT_EQ(added[at], 0xEE) << "noted a sum too many";
      EXPECT_EQ(copied[at], 0xEE) << "noted a sum too many";
    }
  }
}

TEST(BlockSums, ARunningSumWithoutMemoryNotesNone) {
  const std::string payload(3 * kSumBlockBytes, 'p');
  RunningSum sum;
  sum.add(reinterpret_cast<const uint8_t*>(payload.data()), payload.size());
  EXPECT_EQ(sum.crc(), crc32c(payload));
}

}  // namespace
}  // namespace kvpool
