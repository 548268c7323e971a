// SPDX-License-Identifier: Apache-2.0
// Batches that were taken and not yet waited for, with the tables of their callers, and how long those took that are
// done. Whoever has one guards it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "base/lent_memory.h"
#include "base/status.h"
#include "client/core/actions.h"
#include "client/core/batch.h"
#include "client/core/context.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

class PendingBatches {
 public:
  explicit PendingBatches(uint32_t operationsMax) : operationsMax_(operationsMax) {}

  /// Takes a batch with the table it is of, and where the objects go that it read, and names it; `loans` is kept until
  /// it is finished. KV_QUEUE_FULL when more than `operationsMax` lines would be in flight.
  Result<BatchId> add(const Submission& submission, kv_op* table, uint32_t count, LentMemory::Loans loans = {},
                      kv_object_id* objects = nullptr);
  /// Writes the results into the table of their caller, and gives back what was borrowed; false when nobody has such a
  /// batch.
  bool finish(const FinishBatch& finished);
  [[nodiscard]] bool has(BatchId batch) const { return batches_.contains(batch); }
  /// Done, or waited for and forgotten by somebody else.
  [[nodiscard]] bool isOver(BatchId batch) const;
  /// Forgets a batch that is over. KV_INVALID_ARGUMENT: somebody has.
  int32_t forget(BatchId batch);
  /// These statistics, with how long batches took.
  [[nodiscard]] Statistics measured(Statistics statistics) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    kv_op* table = nullptr;           // the caller's
    kv_object_id* objects = nullptr;  // likewise; null: the caller does not want them
    uint32_t count = 0;
    OpCode op = OpCode::Get;
    uint64_t bytes = 0;  // of the values put
    Clock::time_point since;
    LentMemory::Loans loans;
    bool done = false;
  };

  void measure(const FinishBatch& finished, const Pending& pending);

  const uint32_t operationsMax_;
  std::map<BatchId, Pending> batches_;
  BatchId last_ = 0;
  uint64_t operations_ = 0;
  Durations puts_;
  Durations gets_;
  Durations singlePuts_;
  Durations singleGets_;
};

}  // namespace kvpool::client
