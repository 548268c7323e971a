// SPDX-License-Identifier: Apache-2.0
// A put in many calls: start (a grant, and room at each target: put_flow.h does that) -> parts, to every target in
// parallel -> end (commit at the targets, publish) or revoke. What the caller has of it is the name of the object. Its
// bytes were the caller's only during the calls, so nothing can be done again: where a put would ask for a new grant, a
// session is over, which is KV_LEASE_EXPIRED, and its room is given back.
#pragma once

#include <span>

#include "client/core/batch_table.h"
#include "client/core/node_links.h"
#include "client/core/open_puts.h"

namespace kvpool::client {

class PutSessionFlow {
 public:
  PutSessionFlow(Context& context, BatchTable& batches, NodeLinks& links, OpenPuts& open)
      : context_(context), batches_(batches), links_(links), open_(open) {}

  /// Of a batch that was just admitted.
  void begin(Batch& batch, const PoolId& pool);
  /// What a node said to a part, a commit or an abort.
  void answered(Batch& batch, const TransferResult& result);
  void published(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply);
  /// A start that ends before its time gives back what it has got.
  void giveUpStart(const Line& line);
  void tick();

 private:
  void beginParts(Batch& batch, uint32_t line, const PoolId& pool);
  void beginEnd(Batch& batch, uint32_t line, const PoolId& pool);
  void send(Batch& batch, uint32_t line, Direction direction, const OpenPut& put, const PoolId& pool);
  void partsDone(Batch& batch, uint32_t line);
  void endDone(Batch& batch, uint32_t line);
  void isOver(Batch& batch, uint32_t line);
  void giveBack(const ObjectId& object, const OpenPut::Place& place);

  Context& context_;
  BatchTable& batches_;
  NodeLinks& links_;
  OpenPuts& open_;
};

}  // namespace kvpool::client
