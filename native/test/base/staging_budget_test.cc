// SPDX-License-Identifier: Apache-2.0
#include "base/staging_budget.h"

#include <gtest/gtest.h>

#include "kvpool/kvpool.h"

namespace kvpool {
namespace {

TEST(StagingBudget, TakesUpToItsBoundAndSaysWhyNoMore) {
  StagingBudget budget(1000, "node a");
  EXPECT_EQ(budget.take(0).code(), KV_INVALID_ARGUMENT);
  const Status tooLarge = budget.take(1001);
  EXPECT_EQ(tooLarge.code(), KV_TOO_LARGE);
  EXPECT_NE(tooLarge.text().find("node a shares at most 1000"), std::string::npos) << tooLarge.text();
  EXPECT_TRUE(budget.take(600).ok());
  const Status taken = budget.take(401);
  EXPECT_EQ(taken.code(), KV_NO_SPACE);
  EXPECT_NE(taken.text().find("other clients hold 600 of the 1000"), std::string::npos) << taken.text();
  EXPECT_NE(taken.text().find("--staging-size"), std::string::npos) << taken.text();
  EXPECT_EQ(budget.used(), 600u);
}

TEST(StagingBudget, WhatIsGivenBackCanBeTakenAgain) {
  StagingBudget budget(1000, "node a");
  EXPECT_TRUE(budget.take(1000).ok());
  budget.giveBack(400);
  EXPECT_TRUE(budget.take(400).ok());
  EXPECT_FALSE(budget.take(UINT64_MAX).ok());
  EXPECT_EQ(budget.used(), 1000u);
}

}  // namespace
}  // namespace kvpool
