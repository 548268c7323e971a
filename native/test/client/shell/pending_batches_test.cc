// SPDX-License-Identifier: Apache-2.0
// What callers are told about how long their batches took.
#include "client/shell/pending_batches.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/lent_memory.h"
#include "base/log.h"
#include "client/core/core_harness.h"

namespace kvpool::test {
namespace {

using client::FinishBatch;
using client::PendingBatches;
using client::Statistics;
using client::Submission;

uint64_t counted(const Durations& durations) {
  return std::accumulate(durations.counts.begin(), durations.counts.end(), uint64_t{0});
}

TEST(Durations, EachIsCountedInTheFirstStepThatFits) {
  Durations durations;
  for (const uint64_t us : {0u, 100u, 101u, 1000u, 10000u, 100000u, 1000000u, 1000001u, 60000000u})
    durations.add(us);
  EXPECT_EQ(durations.counts, (std::array<uint64_t, 6>{2, 2, 1, 1, 1, 2}));
  EXPECT_EQ(durations.us, 62'111'202u);
}

class MeasuredBatches : public testing::Test {
 protected:
  uint64_t add(OpCode op, uint64_t length) {
    Submission submission;
    submission.op = op;
    for (size_t i = 0; i < table_.size(); ++i)
      submission.lines.push_back(operation("key", nullptr, length));
    return pending_.add(submission, table_.data(), static_cast<uint32_t>(table_.size())).value();
  }
  void finish(uint64_t batch, std::vector<LineResult> lines) {
    EXPECT_TRUE(pending_.finish({batch, std::move(lines)}));
    EXPECT_EQ(pending_.forget(batch), KV_OK);
  }

  std::array<kv_op, 2> table_{};
  PendingBatches pending_{100};
};

TEST_F(MeasuredBatches, PutsAndGetsAreToldApartWhateverBecameOfThem) {
  const uint64_t put = add(OpCode::Put, 50);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  finish(put, {{KV_OK, 0}, {KV_NO_SPACE, 0}});
  for (int i = 0; i < 3; ++i)
    finish(add(OpCode::Get, 50), {{KV_NOT_FOUND, 0}, {KV_OK, 20}});
  finish(add(OpCode::Exists, 0), {{KV_OK, 20}, {KV_OK, 20}});
  Statistics own;
  own.retries = 7;
  const Statistics seen = pending_.measured(own);
  EXPECT_EQ(seen.retries, 7u);
  EXPECT_EQ(counted(seen.putBatches), 1u);
  EXPECT_GE(seen.putBatches.us, 2000u);
  EXPECT_EQ(seen.putBatches.counts[0] + seen.putBatches.counts[1], 0u);
  EXPECT_EQ(counted(seen.getBatches), 3u);
}

TEST_F(MeasuredBatches, ALineOfTheLogForEachIfThatIsWanted) {
  const auto logged = [&] {
    testing::internal::CaptureStderr();
    finish(add(OpCode::Put, 50), {{KV_OK, 0}, {KV_NO_SPACE, 0}});
    finish(add(OpCode::Get, 50), {{KV_NOT_FOUND, 0}, {KV_OK, 20}});
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logged(), "");
  setLogLevel(LogLevel::Debug);
  const std::string text = logged();
  setLogLevel(LogLevel::Warning);
  EXPECT_NE(text.find("batch 3: put of 2 lines with 100 bytes, 1 lines KV_OK, "), std::string::npos) << text;
  EXPECT_NE(text.find("batch 4: get of 2 lines with 20 bytes, 1 lines KV_OK, "), std::string::npos) << text;
  EXPECT_NE(text.find(" us\n"), std::string::npos) << text;
}

TEST(PendingBatches, KeepWhatABatchBorrowedUntilItIsFinished) {
  LentMemory lent;
  char memory[10] = {};
  const kv_region region{reinterpret_cast<uintptr_t>(memory), sizeof memory};
  lent.lend({&region, 1});
  std::weak_ptr<const LentMemory::Region> held;
  PendingBatches pending(100);
  kv_op table{};
  Submission submission;
  submission.lines.resize(1);
  {
    LentMemory::Loans loans{lent.borrow(memory, 1)};
    held = loans[0];
    ASSERT_TRUE(pending.add(submission, &table, 1, std::move(loans)).ok());
  }
  const LentMemory::Recalled recalled = lent.recallAll();
  EXPECT_FALSE(held.expired());
  EXPECT_TRUE(pending.finish({1, {{KV_OK, 0}}}));
  EXPECT_TRUE(held.expired()) << "given back before its caller waits for it";
  LentMemory::awaitReturn(recalled);
  EXPECT_EQ(pending.forget(1), KV_OK);
}

}  // namespace
}  // namespace kvpool::test
