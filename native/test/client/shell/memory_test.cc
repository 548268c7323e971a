// SPDX-License-Identifier: Apache-2.0
// The memory of a client that others see: registered by its caller, shared with a node.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

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
  char memory[300] = {};
  ASSERT_TRUE(registry.add(memory, 100).ok());
  ASSERT_TRUE(registry.add(memory + 100, 100).ok());
  EXPECT_TRUE(registry.covers(memory, 100));
  EXPECT_TRUE(registry.covers(memory + 99, 1));
  EXPECT_TRUE(registry.covers(memory + 100, 100));
  EXPECT_FALSE(registry.covers(memory + 50, 100)) << "two regions may be unregistered apart";
  EXPECT_FALSE(registry.covers(memory + 200, 1));
  EXPECT_FALSE(registry.covers(memory, UINT64_MAX));
  EXPECT_TRUE(registry.covers(nullptr, 0));
}

}  // namespace
}  // namespace kvpool::test
