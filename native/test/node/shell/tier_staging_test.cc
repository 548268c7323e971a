// SPDX-License-Identifier: Apache-2.0
#include "node/shell/tier_staging.h"

#include <gtest/gtest.h>

#include <string>

#include "ssd/device.h"
#include "ssd/layout.h"

namespace kvpool::node {
namespace {

using ssd::kBlockBytes;

class TierStagingTest : public testing::Test {
 protected:
  /// Numbers of those that have some by now; "-" in front of those that get none.
  std::string ask(ConnectionId connection, uint64_t transfer, uint64_t blocks) {
    staging.ask({connection, transfer, blocks * kBlockBytes});
    return answers();
  }
  std::string answers() {
    std::string out;
    for (const TierStaging::Answer& answer : staging.takeAnswers())
      out += (answer.good ? "" : "-") + std::to_string(answer.transfer) + " ";
    return out;
  }
  std::string release(uint64_t transfer) {
    staging.release(transfer);
    return answers();
  }

  ssd::BlockBuffer memory{64 * kBlockBytes};
  TierStaging staging{memory.bytes()};
};

TEST_F(TierStagingTest, PartsAreWholeBlocksOfTheMemoryAndDoNotOverlap) {
  staging.ask({1, 10, 1});
  staging.ask({2, 20, kBlockBytes + 1});
  staging.ask({3, 30, 0});
  EXPECT_EQ(answers(), "10 20 30 ");
  uint64_t bytes = 0;
  for (const uint64_t transfer : {10U, 20U, 30U}) {
    const std::span<uint8_t> part = staging.of(transfer);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part.data()) % kBlockBytes, 0U);
    EXPECT_EQ(static_cast<uint64_t>(part.data() - memory.bytes().data()), bytes);
    bytes += part.size();
  }
  EXPECT_EQ(bytes, 4 * kBlockBytes);
}

TEST_F(TierStagingTest, OneConnectionLeavesRoomForOthers) {
  std::string given;
  for (uint64_t transfer = 1; transfer <= 32; ++transfer)
    given += ask(1, transfer, 2);
  EXPECT_EQ(given, "1 2 3 4 5 6 7 8 9 ") << "until it holds a third of the rest, and one more";
  EXPECT_EQ(ask(2, 100, 40), "100 ");
  EXPECT_EQ(release(100), "");
  EXPECT_EQ(release(1), "10 ");
}

TEST_F(TierStagingTest, OneThatHoldsNothingGetsAllThatItAsksFor) {
  EXPECT_EQ(ask(1, 1, 64), "1 ");
  EXPECT_EQ(ask(2, 2, 1), "");
  EXPECT_EQ(release(1), "2 ");
}

TEST_F(TierStagingTest, ALargePayloadIsNotOvertakenForever) {
  EXPECT_EQ(ask(1, 1, 32), "1 ");
  EXPECT_EQ(ask(2, 2, 60), "");
  EXPECT_EQ(ask(3, 3, 1), "") << "it would fit";
  EXPECT_EQ(release(1), "2 3 ");
}

TEST_F(TierStagingTest, WhatCannotFitIsRefused) {
  EXPECT_EQ(ask(1, 1, 65), "-1 ");
  staging.ask({1, 2, UINT64_MAX});
  EXPECT_EQ(answers(), "-2 ");
  TierStaging none({});
  none.ask({1, 1, 1});
  EXPECT_FALSE(none.takeAnswers().at(0).good);
}

TEST_F(TierStagingTest, OneThatLeavesGetsNothingAndWhatItHasIsHeldUntilItIsReleased) {
  EXPECT_EQ(ask(1, 1, 60), "1 ");
  EXPECT_EQ(ask(1, 2, 1), "");
  EXPECT_EQ(ask(2, 3, 30), "");
  staging.leave(1);
  EXPECT_EQ(answers(), "-2 ");
  EXPECT_EQ(release(1), "3 ");
  EXPECT_EQ(release(1), "") << "again";
}

}  // namespace
}  // namespace kvpool::node
