// SPDX-License-Identifier: Apache-2.0
#include "client/core/key_flow.h"

#include <string>
#include <utility>

#include "client/core/leader_bounds.h"

namespace kvpool::client {
namespace {

/// Why nothing, or not everything, was done; empty when the status says it all.
std::string explanationOf(OpCode op, int32_t status) {
  if (status == KV_QUEUE_FULL) {
    return leaderIsFull(op == OpCode::Retain     ? bound::kRetained
                        : op == OpCode::Prefetch ? bound::kPrefetches
                                                 : bound::kTombstones);
  }
  if (status == KV_TOO_LARGE) return "a group has more than " + std::to_string(KV_GROUP_OBJECTS_MAX) + " objects";
  if (status != KV_NO_SPACE) return {};
  if (op == OpCode::Retain) {
    return "clients retain as much as they may: half of the memory of the storage nodes that are there; release some, "
           "or wait until their time is over";
  }
  return "no memory is free for what is to be prefetched; try again when something was evicted";
}

}  // namespace

void KeyFlow::answered(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t line = lines[i];
    const KeyStatus& result = reply.results[i];
    const bool isRemove = batch.asked.op == OpCode::Remove;
    if (std::string why = explanationOf(batch.asked.op, result.status); !why.empty()) context_.explain(std::move(why));
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
