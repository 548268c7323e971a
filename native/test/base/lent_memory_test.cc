// SPDX-License-Identifier: Apache-2.0
#include "base/lent_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kvpool::test {
namespace {

kv_region lentRegion(const char* memory, uint64_t length) {
  return {reinterpret_cast<uintptr_t>(memory), length};
}

TEST(LentMemory, IsBackWhenTheLastLoanIs) {
  char memory[200] = {};
  LentMemory lent;
  lent.lend(std::vector<kv_region>{lentRegion(memory, 100), lentRegion(memory + 100, 100)});
  LentMemory::Loan loan = lent.borrow(memory, 10);
  LentMemory::Loan same = lent.borrow(memory + 90, 10);
  ASSERT_TRUE(loan && loan == same);
  LentMemory::awaitReturn(lent.recall(std::vector<kv_region>{lentRegion(memory + 100, 0), lentRegion(memory + 50, 0)}));
  const LentMemory::Recalled recalled = lent.recall(std::vector<kv_region>{lentRegion(memory, 0)});
  EXPECT_FALSE(lent.borrow(memory, 1)) << "recalled";
  lent.lend(std::vector<kv_region>{lentRegion(memory, 50)});
  EXPECT_TRUE(lent.borrow(memory, 50)) << "registered anew, while the old one is still at use";
  std::atomic<bool> back{false};
  std::thread waiting([&] {
    LentMemory::awaitReturn(recalled);
    EXPECT_TRUE(back);
  });
  loan.reset();
  back = true;
  same.reset();
  waiting.join();
  LentMemory::awaitReturn(lent.recallAll());
  lent.lend(std::vector<kv_region>{lentRegion(memory, 50)});
  EXPECT_FALSE(lent.borrow(memory, 1)) << "the engine has ended";
}

}  // namespace
}  // namespace kvpool::test
