// SPDX-License-Identifier: Apache-2.0
// What a client lends to storage nodes. CANN is the fake of test/ascend/fake.
#include "client/shell/ascend_staging.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "ascend/fake_cann.h"
#include "net/clock.h"

namespace kvpool::client {
namespace {

constexpr uint64_t kBytes = uint64_t{64} << 20;

class AscendStagingTest : public testing::Test {
 protected:
  void SetUp() override {
    (void)ascend::runtime();
    ascend::functionOf<void (*)()>("fake_ascend_reset")();
    ::setenv("HCCL_IF_IP", "127.0.0.1", 1);
  }
  void TearDown() override {
    for (const char* variable : {"HCCL_IF_IP", "ASCEND_ENABLE_USE_FABRIC_MEM", "ASCEND_CONNECT_TIMEOUT"})
      ::unsetenv(variable);
    for (const char* kind : {"physical", "region", "host_memory", "engine"})
      EXPECT_EQ(ascend::live(kind), 0U) << kind;
  }
  static std::unique_ptr<AscendStaging> open() {
    auto staging = AscendStaging::open({}, "client");
    EXPECT_TRUE(staging.ok()) << staging.status().text();
    return std::move(staging.value());
  }
  static std::unique_ptr<OfferedMemory> lend(AscendStaging& staging, Time now) {
    auto lent = staging.lend(kBytes, now);
    EXPECT_TRUE(lent.ok()) << lent.status().text();
    return std::move(lent.value());
  }
};

TEST_F(AscendStagingTest, MemoryIsLentAgainAfterMoreTimeThanANodeGivesATransfer) {
  ::setenv("ASCEND_CONNECT_TIMEOUT", "60000", 1);
  ::setenv("HCCL_RDMA_TIMEOUT", "18", 1);
  ::setenv("HCCL_RDMA_RETRY_CNT", "3", 1);
  const auto staging = open();
  ::unsetenv("HCCL_RDMA_TIMEOUT");
  ::unsetenv("HCCL_RDMA_RETRY_CNT");
  EXPECT_EQ(staging->restMs(), 83221) << "connect, transfer, three tries of the card, the end";
  auto first = lend(*staging, net::steadyMs());
  const uint64_t address = first->offer().address;
  first.reset();
  const Time ended = net::steadyMs();
  EXPECT_NE(lend(*staging, ended + 60000)->offer().address, address);
  EXPECT_EQ(lend(*staging, ended + 83221)->offer().address, address);
}

TEST_F(AscendStagingTest, RegistrationsAreCountedWhereARegionIsRegistered) {
  ::setenv("ASCEND_ENABLE_USE_FABRIC_MEM", "1", 1);
  const auto staging = open();
  EXPECT_EQ(ascend::live("region"), 1U) << "it is made before the first connection";
  std::vector<std::unique_ptr<OfferedMemory>> lent;
  lent.reserve(17);
  for (int i = 0; i < 17; ++i)
    lent.push_back(lend(*staging, 0));
  for (size_t i = 1; i < 16; ++i)
    EXPECT_EQ(lent[i]->offer().registrations, lent[0]->offer().registrations) << i;
  EXPECT_EQ(lent[16]->offer().registrations, lent[0]->offer().registrations + 1);
  lent.clear();
}

TEST_F(AscendStagingTest, WithoutFabricMemoryItDoesNotOpen) {
  ::setenv("ASCEND_ENABLE_USE_FABRIC_MEM", "1", 1);
  ascend::control("fail RegisterMem * 207000");
  const auto staging = AscendStaging::open({}, "client");
  ASSERT_FALSE(staging.ok());
  EXPECT_NE(staging.status().text().find(ascend::kFabricRemedy), std::string::npos) << staging.status().text();
}

TEST_F(AscendStagingTest, WhatCannRefusesIsNotAskedForAtEachConnection) {
  const auto staging = open();
  ascend::control("fail RegisterMem * 103900");
  const Status refused = staging->lend(kBytes, 1000).status();
  EXPECT_EQ(refused.code(), KV_IO);
  ascend::control("");
  EXPECT_EQ(staging->lend(kBytes, 60999).status().text(), refused.text());
  EXPECT_EQ(ascend::calls("RegisterMem"), 1U);
  EXPECT_NE(lend(*staging, 61000), nullptr);
}

}  // namespace
}  // namespace kvpool::client
