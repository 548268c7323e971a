// SPDX-License-Identifier: Apache-2.0
// The memory of a client that others see: registered by its caller, shared with a node.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/lent_memory.h"
#include "client/shell/memory_registry.h"
#include "client/shell/staging_memory.h"

namespace kvpool::test {
namespace {

using client::MemoryRegistry;

/// What devices there are says the test.
class Devices final : public client::DeviceMemory {
 public:
  Result<bool> holds(const void*) override { return held_; }
  Status admit(const void*) override { return {KV_IO, "no device here"}; }
  void hold() { held_ = true; }

 private:
  bool held_ = false;
};

TEST(StagingMemory, CannotBeResizedByTheOtherSide) {
  auto memory = client::StagingMemory::create(1 << 16);
  ASSERT_TRUE(memory.ok()) << memory.status().text();
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(memory.value()->descriptor(), 1 << 20), 0);
  std::memset(memory.value()->at(0), 1, 1 << 16);
}

TEST(MemoryRegistry, RefusesMemoryThatCannotBeRead) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* const device = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(device, MAP_FAILED);
  Devices devices;
  MemoryRegistry registry(devices);
  const Status refused = registry.add(device, page);
  EXPECT_EQ(refused.code(), KV_INVALID_ARGUMENT);
  EXPECT_NE(refused.text().find("not that of an accelerator"), std::string::npos) << refused.text();
  EXPECT_NE(refused.text().find("as an NPU's: no device here"), std::string::npos) << refused.text();
  ASSERT_EQ(::mprotect(device, page, PROT_READ | PROT_WRITE), 0);
  EXPECT_TRUE(registry.add(device, page).ok());
  ::munmap(device, page);
}

TEST(MemoryRegistry, KnowsRangesInsideOneRegionOnly) {
  Devices devices;
  MemoryRegistry registry(devices);
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
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(registry.covers(memory + 100 * (i % 2), 100, loans));
  EXPECT_EQ(loans.size(), 2u) << "each once, also when they are asked for in turn";
}

TEST(MemoryRegistry, ARegionGoesWhenNoBatchUsesIt) {
  Devices devices;
  MemoryRegistry registry(devices);
  char memory[200] = {};
  ASSERT_TRUE(registry.add(memory, 100).ok());
  ASSERT_TRUE(registry.add(memory + 100, 100).ok());
  LentMemory::Loans batch;
  ASSERT_TRUE(registry.covers(memory + 10, 10, batch));
  EXPECT_TRUE(registry.remove(memory + 100).ok()) << "it has another one";
  std::atomic<bool> gone = false;
  std::thread remover([&] {
    EXPECT_TRUE(registry.remove(memory).ok());
    gone = true;
  });
  for (LentMemory::Loans later; registry.covers(memory, 1, later);)
    later.clear();
  EXPECT_EQ(registry.remove(memory).code(), KV_NOT_REGISTERED);
  EXPECT_FALSE(gone);
  batch.clear();
  remover.join();
}

kv_region regionAt(const char* memory, uint64_t length) {
  return {reinterpret_cast<uintptr_t>(memory), length};
}

TEST(MemoryRegistry, BorrowsWhatItDoesNotHave) {
  char memory[400] = {};
  const auto lender = std::make_shared<LentMemory>();
  lender->lend(std::vector<kv_region>{regionAt(memory, 100), regionAt(memory + 100, 100)});
  Devices devices;
  MemoryRegistry registry(devices);
  LentMemory::Loans loans;
  EXPECT_FALSE(registry.covers(memory, 1, loans));
  registry.borrowFrom(lender);
  ASSERT_TRUE(registry.add(memory + 300, 100).ok());
  EXPECT_TRUE(registry.covers(memory, 100, loans));
  EXPECT_TRUE(registry.covers(memory + 10, 5, loans));
  EXPECT_EQ(loans.size(), 1u) << "one region, borrowed once";
  EXPECT_TRUE(registry.covers(memory + 100, 100, loans));
  EXPECT_TRUE(registry.covers(memory + 300, 100, loans));
  EXPECT_EQ(loans.size(), 3u);
  EXPECT_FALSE(registry.covers(memory + 50, 100, loans)) << "two regions may be unregistered apart";
  EXPECT_FALSE(registry.covers(memory + 200, 1, loans));
  EXPECT_FALSE(registry.covers(memory, UINT64_MAX, loans));
}

TEST(MemoryRegistry, BorrowsMemoryOfDevicesOnlyWhereItCanBeCopied) {
  char memory[100] = {};
  const auto lender = std::make_shared<LentMemory>();
  lender->lend(std::vector<kv_region>{regionAt(memory, 100)}, LentMemory::Kind::Device);
  Devices devices;
  MemoryRegistry registry(devices);
  registry.borrowFrom(lender);
  LentMemory::Loans loans;
  EXPECT_FALSE(registry.covers(memory, 1, loans)) << "a processor would read it";
  devices.hold();
  EXPECT_TRUE(registry.covers(memory, 100, loans));
  EXPECT_EQ(loans.size(), 1u);
}

}  // namespace
}  // namespace kvpool::test
