// SPDX-License-Identifier: Apache-2.0
#include "client/core/staging_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "seed.h"

namespace kvpool::test {
namespace {

using client::StagingRing;

TEST(StagingRing, WrapsAroundAndWaitsForTheOldest) {
  StagingRing ring(1024);
  EXPECT_EQ(ring.take(512), 0u);
  EXPECT_EQ(ring.take(400), 512u);
  EXPECT_FALSE(ring.take(200)) << "64 bytes are left at the end, none at the start";
  ring.release(0);
  EXPECT_EQ(ring.take(200), 0u);
  EXPECT_EQ(ring.take(256), 256u);
  EXPECT_FALSE(ring.take(1)) << "exactly full";
  ring.release(0);
  EXPECT_FALSE(ring.take(64)) << "the block at 512 is older and still held";
  ring.release(512);
  EXPECT_EQ(ring.take(64), 512u);
}

TEST(StagingRing, RefusesWhatCanNeverFit) {
  StagingRing ring(1024);
  EXPECT_FALSE(ring.take(1025));
  EXPECT_FALSE(ring.take(UINT64_MAX));
  EXPECT_EQ(ring.take(1024), 0u);
}

TEST(StagingRing, NeverHandsOutOverlappingBlocks) {
  const uint64_t value = seed(5);
  SCOPED_TRACE(seedTrace(value));
  Dice dice(value);
  StagingRing ring(8192);
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (int i = 0; i < 20000; ++i) {
    if (dice.oneIn(2) && !held.empty()) {
      const size_t which = dice.below(held.size());
      ring.release(held[which].first);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const uint64_t length = dice.below(1500);
    const auto offset = ring.take(length);
    if (!offset) continue;
    ASSERT_LE(*offset + length, 8192u);
    for (const auto& [begin, end] : held)
      ASSERT_TRUE(*offset >= end || *offset + length <= begin);
    held.emplace_back(*offset, *offset + std::max<uint64_t>(length, 1));
  }
}

}  // namespace
}  // namespace kvpool::test
