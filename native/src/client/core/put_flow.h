// SPDX-License-Identifier: Apache-2.0
// put: grant -> write to every target in parallel -> publish. A line is KV_OK only when the leader said that the key
// has a published object: ours (publish answered KV_OK) or another's (the first put wins). The start of a put in many
// calls (put_session_flow.h) ends when there is room at a target, and says at once when the key is another's.
#pragma once

#include <set>
#include <span>
#include <string>

#include "client/core/batch_table.h"
#include "client/core/node_links.h"
#include "client/core/open_puts.h"

namespace kvpool::client {

class PutFlow {
 public:
  PutFlow(Context& context, BatchTable& batches, NodeLinks& links, OpenPuts& open)
      : context_(context), batches_(batches), links_(links), open_(open) {}

  void granted(Batch& batch, std::span<const uint32_t> lines, const GrantReply& reply, const PoolId& pool);
  void written(Batch& batch, const TransferResult& result);
  void published(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply);
  /// What to tell the leader about a line.
  [[nodiscard]] static PublishLine publishLine(const Batch& batch, uint32_t line);

 private:
  void warnOf(const std::string& unknownNodes);
  void write(Batch& batch, uint32_t line, const Grant& grant, const GrantReply& reply, const PoolId& pool);
  void noSpace(Batch& batch, uint32_t line);
  void nodesFull(Batch& batch, uint32_t line);
  void awaitRoom(Batch& batch, uint32_t line, uint32_t roomMs);
  [[nodiscard]] int64_t patienceMs(const PutState& put) const;
  void publishedLine(Batch& batch, uint32_t line, int32_t status);
  void started(Batch& batch, uint32_t line);

  Context& context_;
  BatchTable& batches_;
  NodeLinks& links_;
  OpenPuts& open_;
  std::set<std::string> warnedOf_;
};

}  // namespace kvpool::client
