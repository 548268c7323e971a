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

LineResult TaskResult::packed(const TaskReply& reply) {
  const uint64_t why = static_cast<uint32_t>(reply.why);
  const uint64_t length = why << 32 | (reply.moves ? 0x100U : 0U) | reply.state;
  return {KV_OK, length, {reply.ageMs, reply.restMs}};
}

TaskReply TaskResult::of(uint64_t length, const ObjectId& object) {
  TaskReply reply;
  reply.why = static_cast<int32_t>(length >> 32);
  reply.moves = (length & 0x100U) != 0;
  reply.state = static_cast<uint8_t>(length);
  reply.ageMs = object.epoch;
  reply.restMs = object.counter;
  return reply;
}

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

void KeyFlow::located(Batch& batch, std::span<const uint32_t> lines, const LookupReply& reply) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const Located& object = reply.objects[i];
    batches_.end(batch, lines[i], object.status, object.status == KV_OK ? object.replicas.size() : 0);
    if (object.status != KV_OK) continue;
    for (const Replica& replica : object.replicas) {
      const NodeAddress& node = reply.nodes[replica.node];
      batch.lines[lines[i]].result.places.push_back(
          {node.id, node.tcp, replica.extent.segment == kMemorySegment, replica.offset, object.payloadLength});
    }
  }
}

void KeyFlow::told(Batch& batch, const TaskReply& reply) {
  const bool isNew = batch.asked.op == OpCode::Copy;
  const LineResult result = TaskResult::packed(reply);
  batches_.end(batch, 0, KV_OK, isNew ? reply.task : result.length);
  if (!isNew) batch.lines[0].result.object = result.object;
}

}  // namespace kvpool::client
