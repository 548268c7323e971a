// SPDX-License-Identifier: Apache-2.0
#include "client/core/get_flow.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"

namespace kvpool::client {
namespace {

/// Failures of the way to a copy, not of the copy.
bool isUnreachable(int32_t status) {
  return status == KV_CONNECT_FAILED || status == KV_TRANSFER_FAILED || status == KV_PROTOCOL ||
         status == KV_UNAVAILABLE || status == KV_CLOSED;
}

/// Why this value cannot be read as it was asked for, or KV_OK.
int32_t misfit(const Operation& op, const Descriptor& descriptor) {
  const uint64_t length = descriptor.length;
  if (op.offsets == nullptr) return length > op.length ? KV_BUFFER_TOO_SMALL : KV_OK;
  if (op.meant != ObjectId{} && op.meant != descriptor.object) return KV_LEASE_EXPIRED;
  const std::span<const kv_piece> pieces = op.memory.pieces();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!rangeInside(op.offsets[i], pieces[i].length, 0, length)) return KV_INVALID_ARGUMENT;
  }
  return KV_OK;
}

/// A reader that comes back to an object under its lease prolongs it in time.
bool mustAsk(const Operation& op, const Descriptor& known, Time now) {
  return op.meant != ObjectId{} && now >= known.halfLeased;
}

uint64_t movedBytes(const Line& line) {
  return line.op.offsets == nullptr ? line.result.length : line.op.length;
}

}  // namespace

void GetFlow::readKnown(Batch& batch, const PoolId& pool) {
  for (const uint32_t line : std::exchange(batch.toAsk, {})) {
    const Descriptor* known = known_.find(batch.key(line), context_.now);
    // What does not fit is asked again: only the leader's word is good for the length of what is not read.
    if (known == nullptr || misfit(batch.lines[line].op, *known) != KV_OK ||
        mustAsk(batch.lines[line].op, *known, context_.now)) {
      batch.toAsk.push_back(line);
      continue;
    }
    batch.lines[line].get.remembered = true;
    beginRead(batch, line, *known, pool);
  }
}

void GetFlow::located(Batch& batch, std::span<const uint32_t> lines, const LookupReply& reply, Time sentAt,
                      const PoolId& pool) {
  links_.learn(reply.nodes);
  for (size_t i = 0; i < lines.size(); ++i)
    locatedLine(batch, lines[i], reply.objects[i], reply, sentAt, pool);
}

void GetFlow::locatedLine(Batch& batch, uint32_t line, const Located& object, const LookupReply& reply, Time sentAt,
                          const PoolId& pool) {
  if (object.status != KV_OK) {
    forget(batch.key(line));
    return miss(batch, line, object.status);
  }
  Descriptor descriptor{object.object,          object.payloadLength,       object.payloadCrc,
                        sentAt + reply.leaseMs, sentAt + reply.leaseMs / 2, {}};
  for (const Replica& replica : object.replicas) {
    descriptor.copies.push_back({reply.nodes[replica.node].incarnation, replica.extent, replica.offset});
  }
  ++batch.lines[line].get.lookups;
  if (const int32_t status = misfit(batch.lines[line].op, descriptor); status != KV_OK) {
    return batches_.end(batch, line, status, descriptor.length);
  }
  beginRead(batch, line, descriptor, pool);
  if (batch.asked.reuse) known_.put(batch.key(line), std::move(descriptor), context_.now);
}

void GetFlow::beginRead(Batch& batch, uint32_t line, const Descriptor& descriptor, const PoolId& pool) {
  GetState& get = batch.lines[line].get;
  get.seen = true;
  get.object = descriptor.object;
  get.crc = descriptor.crc;
  get.leasedUntil = descriptor.leasedUntil;
  get.copies = descriptor.copies;
  // Readers of one object spread over its copies; one on this machine beats them all, one at a standstill none.
  std::rotate(get.copies.begin(), get.copies.begin() + static_cast<std::ptrdiff_t>(context_.random(get.copies.size())),
              get.copies.end());
  std::stable_partition(get.copies.begin(), get.copies.end(),
                        [&](const Descriptor::Copy& copy) { return !links_.isLocal(copy.node); });
  std::stable_partition(get.copies.begin(), get.copies.end(),
                        [](const Descriptor::Copy& copy) { return copy.extent.segment != kMemorySegment; });
  std::stable_partition(get.copies.begin(), get.copies.end(),
                        [&](const Descriptor::Copy& copy) { return links_.isStalled(copy.node); });
  batch.lines[line].result.length = descriptor.length;
  if (batch.lines[line].op.offsets != nullptr && batch.lines[line].op.length == 0) return finish(batch, line);
  readNextCopy(batch, line, pool);
}

void GetFlow::readNextCopy(Batch& batch, uint32_t line, const PoolId& pool) {
  GetState& get = batch.lines[line].get;
  const Descriptor::Copy copy = get.copies.back();
  get.copies.pop_back();
  Transfer transfer;
  transfer.id = context_.newRequest();
  transfer.direction = Direction::Read;
  transfer.batch = batch.asked.id;
  transfer.line = line;
  transfer.node = copy.node;
  transfer.memory = batch.lines[line].op.memory;
  transfer.length = movedBytes(batch.lines[line]);
  transfer.payloadLength = batch.lines[line].result.length;
  transfer.offsets = batch.lines[line].op.offsets;
  transfer.object = get.object;
  transfer.extent = copy.extent;
  transfer.offset = copy.offset;
  transfer.crc = get.crc;
  transfer.patienceMs = get.copies.empty() ? 0 : kFallOverMs;
  links_.start(transfer, pool);
}

void GetFlow::read(Batch& batch, const TransferResult& result, const PoolId& pool) {
  Line& line = batch.lines[result.line];
  if (result.status == KV_OK) return finish(batch, result.line);
  line.get.failure = result.status;
  if (!line.get.copies.empty()) return readNextCopy(batch, result.line, pool);
  noCopyLeft(batch, result.line);
}

void GetFlow::finish(Batch& batch, uint32_t line) {
  Line& read = batch.lines[line];
  ++context_.statistics.hits;
  context_.statistics.getBytes += movedBytes(read);
  batches_.end(batch, line, KV_OK, read.result.length);
  if (read.op.offsets != nullptr) read.result.object = read.get.object;
}

void GetFlow::noCopyLeft(Batch& batch, uint32_t line) {
  GetState& get = batch.lines[line].get;
  forget(batch.key(line));
  if (std::exchange(get.remembered, false)) {  // the leader may know better by now
    ++context_.statistics.retries;
    return batches_.ask(batch, line);
  }
  const bool unreachable = isUnreachable(get.failure) || get.failure == KV_IDENTITY_MISMATCH;
  const bool outlived = context_.now > get.leasedUntil || batch.lines[line].op.meant != ObjectId{};
  // Only the leader may say that there is no such object: it knows of copies on nodes that are away. What a node has
  // lost, as with a disk that failed, it may not have heard yet.
  const bool unheard = get.failure == KV_NOT_FOUND && !outlived && get.lookups > 1;
  if (get.lookups < kLookupsPerGet) {
    if (unreachable || unheard)
      return batches_.askLater(batch, line, KV_UNAVAILABLE);  // the leader needs a moment to see it too
    ++context_.statistics.retries;
    return batches_.ask(batch, line);
  }
  if (unreachable) return miss(batch, line, KV_UNAVAILABLE);
  if (get.failure != KV_NOT_FOUND) return miss(batch, line, get.failure);
  miss(batch, line, outlived ? KV_LEASE_EXPIRED : KV_UNAVAILABLE);
}

void GetFlow::miss(Batch& batch, uint32_t line, int32_t status) {
  // An object whose copies were seen but could not be read any more outlived its lease, or was removed by force.
  const GetState& get = batch.lines[line].get;
  const bool outlived = (get.seen && context_.now > get.leasedUntil) || batch.lines[line].op.meant != ObjectId{};
  if (status == KV_NOT_FOUND && outlived) status = KV_LEASE_EXPIRED;
  ++context_.statistics.misses;
  batches_.end(batch, line, status);
}

}  // namespace kvpool::client
