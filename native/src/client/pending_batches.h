// SPDX-License-Identifier: Apache-2.0
// Batches that were taken and not yet waited for, with the tables of their callers. Whoever has one guards it.
#pragma once

#include <cstdint>
#include <map>

#include "base/status.h"
#include "client/actions.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

class PendingBatches {
 public:
  explicit PendingBatches(uint32_t operationsMax) : operationsMax_(operationsMax) {}

  /// Takes a batch and names it. KV_QUEUE_FULL when more than `operationsMax` lines would be in flight.
  Result<BatchId> add(kv_op* table, uint32_t count);
  /// Writes the results into the table of their caller; false when nobody has such a batch.
  bool finish(const FinishBatch& finished);
  [[nodiscard]] bool has(BatchId batch) const { return batches_.contains(batch); }
  /// Done, or waited for and forgotten by somebody else.
  [[nodiscard]] bool isOver(BatchId batch) const;
  /// Forgets a batch that is over. KV_INVALID_ARGUMENT: somebody has.
  int32_t forget(BatchId batch);

 private:
  struct Pending {
    kv_op* table = nullptr;  // the caller's
    uint32_t count = 0;
    bool done = false;
  };

  const uint32_t operationsMax_;
  std::map<BatchId, Pending> batches_;
  BatchId last_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace kvpool::client
