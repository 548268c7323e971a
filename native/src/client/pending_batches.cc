// SPDX-License-Identifier: Apache-2.0
#include "client/pending_batches.h"

#include <string>

namespace kvpool::client {

Result<BatchId> PendingBatches::add(kv_op* table, uint32_t count) {
  if (count > operationsMax_ - operations_) {
    return {KV_QUEUE_FULL, std::to_string(operations_) + " operations are in flight or not waited for, and " +
                               std::to_string(count) +
                               " more exceed queue_ops_max = " + std::to_string(operationsMax_)};
  }
  operations_ += count;
  batches_[++last_] = Pending{table, count, false};
  return last_;
}

bool PendingBatches::finish(const FinishBatch& finished) {
  const auto found = batches_.find(finished.batch);
  if (found == batches_.end()) return false;
  Pending& pending = found->second;
  for (uint32_t i = 0; i < pending.count; ++i) {
    pending.table[i].status = finished.lines[i].status;
    pending.table[i].result_length = finished.lines[i].length;
  }
  pending.done = true;
  return true;
}

bool PendingBatches::isOver(BatchId batch) const {
  const auto found = batches_.find(batch);
  return found == batches_.end() || found->second.done;
}

int32_t PendingBatches::forget(BatchId batch) {
  const auto found = batches_.find(batch);
  if (found == batches_.end()) return KV_INVALID_ARGUMENT;
  operations_ -= found->second.count;
  batches_.erase(found);
  return KV_OK;
}

}  // namespace kvpool::client
