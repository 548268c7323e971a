// SPDX-License-Identifier: Apache-2.0
// Payloads from the staging memory of clients into the segment: how much in a turn, and what a client that is gone
// leaves.
#include "node/shell/staging_copies.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "base/fd.h"

namespace kvpool::node {
namespace {

constexpr uint64_t kTurn = StagingCopies::kTurnBytes;

class StagingCopiesTest : public ::testing::Test {
 protected:
  void attach(ConnectionId connection, char fill) {
    const Fd memory(::memfd_create("staging", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(memory.get(), 4 * kTurn), 0);
    Result<store::Mapping> mapped = store::Mapping::map(memory.get(), 4 * kTurn, true);
    ASSERT_TRUE(mapped.ok());
    std::memset(mapped.value().bytes().data(), fill, 4 * kTurn);
    copies_.attach(connection, std::move(mapped.value()));
  }
  /// The copy of `bytes` to the connection's own part of the segment.
  static CopyStaging wanted(ConnectionId connection, uint64_t bytes) {
    return {connection, 0, connection * 4 * kTurn, bytes, static_cast<uint32_t>(connection)};
  }
  void turn() {
    copies_.turn([this](ConnectionId connection, uint32_t computed, uint32_t expected) {
      EXPECT_EQ(expected, connection);
      copied_.push_back(connection);
      computed_ = computed;
      if (ends_ != 0) copies_.forget(ends_);
    });
  }
  uint32_t sumOf(ConnectionId connection, uint64_t bytes) {
    return crc32c(segment_.data() + connection * 4 * kTurn, bytes);
  }
  /// Behind the payload there are the sums of its blocks.
  void expectSums(ConnectionId connection, uint64_t bytes) {
    const uint8_t* payload = segment_.data() + connection * 4 * kTurn;
    for (uint64_t block = 0; block < sumCount(bytes); ++block) {
      EXPECT_EQ(sumAt(sumsBehind(payload, bytes), block), crc32c(payload, (block + 1) * kSumBlockBytes));
    }
  }

  std::vector<uint8_t> segment_ = std::vector<uint8_t>(12 * kTurn);
  StagingCopies copies_{segment_};
  std::vector<ConnectionId> copied_;
  uint32_t computed_ = 0;
  ConnectionId ends_ = 0;
};

TEST_F(StagingCopiesTest, WhatFitsIntoTheTurnIsThereAtOnce) {
  attach(1, 'a');
  const std::optional<uint32_t> computed = copies_.copy(wanted(1, kTurn / 2));
  EXPECT_EQ(computed, sumOf(1, kTurn / 2));
  EXPECT_EQ(segment_[4 * kTurn + kTurn / 2 - 1], 'a');
  EXPECT_EQ(segment_[4 * kTurn + kTurn / 2 + sumCount(kTurn / 2) * kSumBytes], 0);
  expectSums(1, kTurn / 2);
  EXPECT_TRUE(copies_.idle());
}

TEST_F(StagingCopiesTest, WhatDoesNotFitComesWithTheNextTurns) {
  attach(1, 'a');
  attach(2, 'b');
  EXPECT_FALSE(copies_.copy(wanted(1, 2 * kTurn + 1)));
  ASSERT_TRUE(copies_.copy(wanted(2, kTurn))) << "one that is large leaves room for one that is small";
  turn();
  turn();
  EXPECT_TRUE(copied_.empty());
  EXPECT_FALSE(copies_.idle());
  turn();
  EXPECT_EQ(copied_, std::vector<ConnectionId>{1});
  EXPECT_EQ(computed_, sumOf(1, 2 * kTurn + 1));
  EXPECT_EQ(segment_[6 * kTurn], 'a');
  expectSums(1, 2 * kTurn + 1);
  EXPECT_TRUE(copies_.idle());
}

TEST_F(StagingCopiesTest, NothingIsToldOfOneThatEndedMeanwhile) {
  attach(1, 'a');
  attach(2, 'b');
  EXPECT_FALSE(copies_.copy(wanted(1, kTurn + 1)));
  EXPECT_FALSE(copies_.copy(wanted(2, kTurn + 1)));
  turn();
  ends_ = 2;  // what follows from the first ends the second
  turn();
  EXPECT_EQ(copied_, std::vector<ConnectionId>{1});
  EXPECT_TRUE(copies_.idle());
}

}  // namespace
}  // namespace kvpool::node
