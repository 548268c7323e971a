// SPDX-License-Identifier: Apache-2.0
// The memory of a client that others see: registered by its caller, shared with a node.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "base/lent_memory.h"
#include "client/shell/memory_registry.h"
#include "client/shell/staging_memory.h"

namespace kvpool::test {
namespace {

using client::MemoryRegistry;

TEST(StagingMemory, CannotBeResizedByTheOtherSide) {
  auto memory = client::StagingMemory::create(1 << 16);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 1 << 20), 0);
  std::memset(memory.value()->at(0), 1, 1 << 16);
}

TEST(MemoryRegistry, KnowsRangesInsideOneRegionOnly) {
  MemoryRegistry registry;
  LentMemory::Loans loans;
  char memory[300] = {};
  ASSERT_TRUE(registry.add(memory, 100).ok());
  ASSERT_TRUE(registry.add(memory + 100, 100).ok());
  EXPECT_TRUE(registry.covers(memory, 100, loans));
  EXPECT_TRUE(registry.covers(memory + 99, 1, loans));
  EXPECT_TRUE(registry.covers(memory + 100, 100, loans));
  EXPECT_FALSE(registry.covers(memory + 50, 100, loans)) << "two regions may be unregistered apart";
  EXPECT_FALSE(registry.covers(memory + 200, 1, loans));
  EXPECT_FALSE(registry.covers(memory, UINT64_MAX, loans));
  EXPECT_TRUE(registry.covers(nullptr, 0, loans));
  EXPECT_TRUE(loans.empty()) << "it is the caller's own";
}

kv_region regionAt(const char* memory, uint64_t length) {
  return {reinterpret_cast<uintptr_t>(memory), length};
}

TEST(MemoryRegistry, BorrowsWhatItDoesNotHave) {
  char memory[400] = {};
  const auto lender = std::make_shared<LentMemory>();
  lender->lend(std::vector<kv_region>{regionAt(memory, 100), regionAt(memory + 100, 100)});
  MemoryRegistry registry;
  LentMemory::Loans loans;
  EXPECT_FALSE(registry.covers(memory, 1, loans));
  registry.borrowFrom(lender);
  ASSERT_TRUE(registry.add(memory + 300, 100).ok());
  EXPECT_TRUE(registry.covers(memory, 100, loans));
  EXPECT_TRUE(registry.covers(memory + 10, 5, loans));
  EXPECT_EQ(loans.size(), 1u) << "one region, borrowed once";
  EXPECT_TRUE(registry.covers(memory + 100, 100, loans));
  EXPECT_TRUE(registry.covers(memory + 300, 100, loans));
  EXPECT_EQ(loans.size(), 2u);
  EXPECT_FALSE(registry.covers(memory + 50, 100, loans)) << "two regions may be unregistered apart";
  EXPECT_FALSE(registry.covers(memory + 200, 1, loans));
  EXPECT_FALSE(registry.covers(memory, UINT64_MAX, loans));
}

}  // namespace
}  // namespace kvpool::test
