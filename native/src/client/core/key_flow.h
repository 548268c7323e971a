// SPDX-License-Identifier: Apache-2.0
// exists, remove, remove_all, hints, tasks and locate: one answer of the leader is the result.
#pragma once

#include <span>

#include "client/core/batch_table.h"

namespace kvpool::client {

/// A task as the result of a line: in `length` its state, whether it moves, and why; in `object` the two times.
struct TaskResult {
  static LineResult packed(const TaskReply& reply);
  static TaskReply of(uint64_t length, const ObjectId& object);
};

class KeyFlow {
 public:
  KeyFlow(Context& context, BatchTable& batches) : context_(context), batches_(batches) {}

  void answered(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply);
  void removedAll(Batch& batch, const RemoveAllReply& reply) { batches_.end(batch, 0, KV_OK, reply.removed); }
  void located(Batch& batch, std::span<const uint32_t> lines, const LookupReply& reply);
  void told(Batch& batch, const TaskReply& reply);

 private:
  Context& context_;
  BatchTable& batches_;
};

}  // namespace kvpool::client
