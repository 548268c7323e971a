// SPDX-License-Identifier: Apache-2.0
// In a process whose main thread has no context of its own.
#include "ascend/shell/station.h"

#include <gtest/gtest.h>

#include "ascend/fake_cann.h"

namespace kvpool::ascend {
namespace {

TEST(Stations, OfOneThreadDoNotEndWithEachOther) {
  (void)runtime();
  auto first = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(first.ok()) << first.status().text();
  auto second = Station::open({"127.0.0.1", "second"});
  ASSERT_TRUE(second.ok()) << second.status().text();
  // This thread works in a context of the second one from here on.
  EXPECT_FALSE(second.value()->isOfDevice(&first));
  auto third = Station::open({"127.0.0.1", "third"});
  ASSERT_TRUE(third.ok()) << third.status().text();
  first.value().reset();
  const Result<uint8_t*> memory = second.value()->hostMemory(1 << 20);
  EXPECT_TRUE(memory.ok()) << memory.status().text();
  second.value().reset();
  const Result<uint8_t*> ofThird = third.value()->hostMemory(1 << 20);
  EXPECT_TRUE(ofThird.ok()) << ofThird.status().text();
}

TEST(Stations, TryMemoryAgainThatCannDidNotRegister) {
  (void)runtime();
  auto station = Station::open({"127.0.0.1", "first"});
  ASSERT_TRUE(station.ok()) << station.status().text();
  const uint64_t before = live("host_memory");
  control("fail RegisterMem * 103900");
  for (int attempt = 0; attempt < 3; ++attempt)
    EXPECT_FALSE(station.value()->hostMemory(1 << 20).ok());
  control("");
  EXPECT_EQ(live("host_memory") - before, 1U);
  EXPECT_TRUE(station.value()->hostMemory(1 << 20).ok());
  EXPECT_EQ(live("host_memory") - before, 1U);
  station.value().reset();
  EXPECT_EQ(live("host_memory"), before);
}

}  // namespace
}  // namespace kvpool::ascend
