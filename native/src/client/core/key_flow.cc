// SPDX-License-Identifier: Apache-2.0
#include "client/core/key_flow.h"

#include "client/core/leader_bounds.h"

namespace kvpool::client {

void KeyFlow::answered(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t line = lines[i];
    const KeyStatus& result = reply.results[i];
    const bool isRemove = batch.asked.op == OpCode::Remove;
    if (result.status == KV_QUEUE_FULL) context_.explain(leaderIsFull(bound::kTombstones));
    // The request that went down with its connection may be what removed it.
    const bool alreadyDone = isRemove && result.status == KV_NOT_FOUND && batch.lines[line].lost;
    if (alreadyDone) {
      batches_.end(batch, line, KV_OK);
    } else {
      batches_.end(batch, line, result.status, result.status == KV_OK ? result.length : 0);
    }
  }
}

}  // namespace kvpool::client
