// SPDX-License-Identifier: Apache-2.0
// get: lookup, unless an earlier one still holds -> read one copy after the other until one is whole and verified ->
// look up again when none was.
#pragma once

#include <span>

#include "client/core/batch_table.h"
#include "client/core/node_links.h"

namespace kvpool::client {

class GetFlow {
 public:
  GetFlow(Context& context, BatchTable& batches, NodeLinks& links)
      : context_(context), batches_(batches), links_(links) {}

  /// Begins to read what is known from earlier lookups; the other lines stay to be asked.
  void readKnown(Batch& batch, const PoolId& pool);
  /// The answer to a lookup that was sent at `sentAt`: the leases it gives began no earlier.
  void located(Batch& batch, std::span<const uint32_t> lines, const LookupReply& reply, Time sentAt,
               const PoolId& pool);
  void read(Batch& batch, const TransferResult& result, const PoolId& pool);
  /// The key's object has changed, or may have.
  void forget(std::string_view key) { known_.drop(key); }
  void forgetAll() { known_.clear(); }

 private:
  void locatedLine(Batch& batch, uint32_t line, const Located& object, const LookupReply& reply, Time sentAt,
                   const PoolId& pool);
  void beginRead(Batch& batch, uint32_t line, const Descriptor& descriptor, const PoolId& pool);
  void readNextCopy(Batch& batch, uint32_t line, const PoolId& pool);
  void finish(Batch& batch, uint32_t line);
  void noCopyLeft(Batch& batch, uint32_t line);
  void miss(Batch& batch, uint32_t line, int32_t status);

  Context& context_;
  BatchTable& batches_;
  NodeLinks& links_;
  DescriptorCache known_;
};

}  // namespace kvpool::client
