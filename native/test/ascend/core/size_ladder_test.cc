// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/size_ladder.h"

#include <gtest/gtest.h>

namespace kvpool::ascend {
namespace {

using Sizes = std::vector<uint64_t>;

TEST(SizeLadder, GoesDownToAHalfByTenths) {
  EXPECT_EQ(sizeLadder(1000, 0, 1), (Sizes{1000, 900, 800, 700, 600, 500}));
}

TEST(SizeLadder, HasWholeUnitsOnceEach) {
  EXPECT_EQ(sizeLadder(40, 0, 10), (Sizes{40, 30, 20}));
  EXPECT_EQ(sizeLadder(10, 0, 10), (Sizes{10}));
  EXPECT_EQ(sizeLadder(15, 0, 10), (Sizes{15, 10})) << "what is wanted is tried as it is";
}

TEST(SizeLadder, EndsAboveTheLeast) {
  EXPECT_EQ(sizeLadder(1000, 700, 1), (Sizes{1000, 900, 800, 700}));
  EXPECT_EQ(sizeLadder(1000, 1000, 1), (Sizes{1000}));
}

}  // namespace
}  // namespace kvpool::ascend
