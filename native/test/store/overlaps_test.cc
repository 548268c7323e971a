// SPDX-License-Identifier: Apache-2.0
#include "store/overlaps.h"

#include <gtest/gtest.h>

namespace kvpool::store {
namespace {

using Numbers = std::vector<uint32_t>;

TEST(Overlaps, NeighboursDoNotOverlap) {
  const Claims claims = sortOut({{{300, 100}, 0}, {{100, 100}, 1}, {{200, 100}, 2}});
  EXPECT_EQ(claims.alone, (Numbers{1, 2, 0}));
  EXPECT_TRUE(claims.overlapping.empty());
  EXPECT_TRUE(sortOut({}).alone.empty());
}

TEST(Overlaps, AllThatClaimAByteGo) {
  EXPECT_EQ(sortOut({{{100, 100}, 0}, {{199, 1}, 1}, {{200, 8}, 2}}).overlapping, (Numbers{0, 1}));
  EXPECT_EQ(sortOut({{{100, 100}, 3}, {{100, 100}, 2}}).overlapping, (Numbers{2, 3}));
}

TEST(Overlaps, OneLongClaimReachesOverShortOnes) {
  const Claims claims = sortOut({{{100, 1000}, 0}, {{200, 8}, 1}, {{1000, 200}, 2}, {{1199, 1}, 3}, {{1200, 1}, 4}});
  EXPECT_EQ(claims.overlapping, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(claims.alone, (Numbers{4}));
}

}  // namespace
}  // namespace kvpool::store
