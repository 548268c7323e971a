// SPDX-License-Identifier: Apache-2.0
// get: lookup -> read one copy after the other until one is whole and verified -> look up again when none was.
#pragma once

#include <span>

#include "client/batch_table.h"
#include "client/node_links.h"

namespace kvpool::client {

class GetFlow {
 public:
  GetFlow(Context& context, BatchTable& batches, NodeLinks& links)
      : context_(context), batches_(batches), links_(links) {}

  void located(Batch& batch, std::span<const uint32_t> lines, const LookupReply& reply, const PoolId& pool);
  void read(Batch& batch, const TransferResult& result, const PoolId& pool);

 private:
  void locatedLine(Batch& batch, uint32_t line, const Located& object, const LookupReply& reply, const PoolId& pool);
  void readNextCopy(Batch& batch, uint32_t line, const PoolId& pool);
  void noCopyLeft(Batch& batch, uint32_t line);
  void miss(Batch& batch, uint32_t line, int32_t status);

  Context& context_;
  BatchTable& batches_;
  NodeLinks& links_;
};

}  // namespace kvpool::client
