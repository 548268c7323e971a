// SPDX-License-Identifier: Apache-2.0
#include "client/core/put_flow.h"

#include <algorithm>
#include <utility>

#include "client/core/leader_bounds.h"

namespace kvpool::client {
namespace {

/// Failures that another try cannot change.
bool isFinal(int32_t status) {
  return status == KV_TOO_LARGE || status == KV_INVALID_KEY || status == KV_INVALID_ARGUMENT ||
         status == KV_VERSION_MISMATCH || status == KV_NOT_PERMITTED || status == KV_INTERNAL;
}

}  // namespace

void PutFlow::warnOf(const std::string& unknownNodes) {
  for (size_t begin = 0; begin < unknownNodes.size();) {
    const size_t end = std::min(unknownNodes.find(',', begin), unknownNodes.size());
    std::string name = unknownNodes.substr(begin, end - begin);
    begin = end + 1;
    if (warnedOf_.size() >= kUnknownNodesMax || !warnedOf_.insert(name).second) continue;
    context_.act(
        Note{"puts prefer the storage node '" + name +
             "', and the pool has none of that name: they go where there is room; a name is the id of a "
             "storage node, or HOST:PORT where it serves, as get_hostname() says of memory that a process gives"});
  }
}

void PutFlow::granted(Batch& batch, std::span<const uint32_t> lines, const GrantReply& reply, const PoolId& pool) {
  links_.learn(reply.nodes);
  warnOf(reply.unknownNodes);
  const bool starts = batch.asked.op == OpCode::PutStart;
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t line = lines[i];
    const Grant& grant = reply.grants[i];
    // A grant of which the answer was lost may be our own.
    const bool isAnothers = grant.status == KV_EXISTS || (grant.status == KV_BUSY && !batch.lines[line].lost);
    if (starts && isAnothers) {
      batches_.end(batch, line, grant.status);
      continue;
    }
    switch (grant.status) {
      case KV_OK:
        write(batch, line, grant, reply, pool);
        break;
      case KV_EXISTS:
        batches_.end(batch, line, KV_OK);
        break;
      case KV_NO_SPACE:
        grant.roomMs > 0 ? awaitRoom(batch, line, grant.roomMs) : noSpace(batch, line);
        break;
      case KV_BUSY:  // another client is putting it: published by then, it exists; given up, it is ours
      case KV_UNAVAILABLE:
      case KV_STALE_EPOCH:
      case KV_NOT_FENCED:
        batches_.askLater(batch, line, grant.status);
        break;
      case KV_QUEUE_FULL:
        context_.explain(leaderIsFull(bound::kGrants));
        batches_.askLater(batch, line, grant.status);
        break;
      default:
        batches_.end(batch, line, grant.status);
    }
  }
}

void PutFlow::write(Batch& batch, uint32_t line, const Grant& grant, const GrantReply& reply, const PoolId& pool) {
  PutState& put = batch.lines[line].put;
  const Operation& op = batch.lines[line].op;
  put.object = grant.object;
  put.targets.clear();
  for (const GrantTarget& granted : grant.targets) {
    const uint64_t node = reply.nodes[granted.node].incarnation;
    const auto isThis = [node](const PutState::Target& target) { return target.node == node; };
    if (std::any_of(put.targets.begin(), put.targets.end(), isThis)) continue;
    put.targets.push_back({node, context_.newRequest(), std::nullopt, 0, {}, granted.mac});
  }
  ++batch.writing;
  const bool starts = batch.asked.op == OpCode::PutStart;
  for (const PutState::Target& target : put.targets) {
    Transfer transfer;
    transfer.id = target.transfer;
    transfer.direction = starts ? Direction::Open : Direction::Write;
    transfer.batch = batch.asked.id;
    transfer.line = line;
    transfer.node = target.node;
    transfer.key = op.key;
    transfer.memory = op.memory;
    transfer.length = starts ? 0 : op.length;
    transfer.payloadLength = op.length;
    transfer.object = put.object;
    transfer.authority = reply.authority;
    transfer.retention = {grant.pins, grant.softPinMs, op.group};
    transfer.mac = target.mac;
    transfer.patienceMs = patienceMs(put);
    links_.start(transfer, pool);
  }
}

/// The leader has, as a rule, another node; where it has none, each try leaves this one more time.
int64_t PutFlow::patienceMs(const PutState& put) const {
  constexpr uint32_t kDoublingsMax = 10;
  return std::min(kFallOverMs << std::min(put.failedTries, kDoublingsMax), context_.config.transferTimeoutMs);
}

/// Something will give way, so the batch's own deadline is the only bound on waiting for it.
void PutFlow::awaitRoom(Batch& batch, uint32_t line, uint32_t roomMs) {
  Line& waiting = batch.lines[line];
  waiting.put.noSpaceTries = 0;
  context_.explain("no room yet for an object of " + std::to_string(waiting.op.length) +
                   " bytes; what is stored may be evicted in " + std::to_string(roomMs) + " ms at the earliest");
  batches_.askLater(batch, line, KV_NO_SPACE);
}

void PutFlow::noSpace(Batch& batch, uint32_t line) {
  PutState& put = batch.lines[line].put;
  if (++put.noSpaceTries < kNoSpaceTries) return batches_.askLater(batch, line, KV_NO_SPACE);
  context_.explain("no room for an object of " + std::to_string(batch.lines[line].op.length) + " bytes after " +
                   std::to_string(kNoSpaceTries) + " tries; enlarge the pool, or remove objects");
  batches_.end(batch, line, KV_NO_SPACE);
}

/// The leader has found room that the nodes did not have: by its next answer it knows better. Of what is written in
/// parts a node holds a part of its memory at most, which no waiting makes larger.
void PutFlow::nodesFull(Batch& batch, uint32_t line) {
  if (batch.asked.op == OpCode::PutStart) return noSpace(batch, line);
  context_.explain("no room yet for an object of " + std::to_string(batch.lines[line].op.length) +
                   " bytes on the storage nodes that the leader named");
  batches_.askLater(batch, line, KV_NO_SPACE);
}

void PutFlow::written(Batch& batch, const TransferResult& result) {
  PutState& put = batch.lines[result.line].put;
  bool complete = true;
  for (PutState::Target& target : put.targets) {
    if (target.transfer == result.id) {
      target.status = result.status;
      target.connection = result.connection;
      target.extent = result.extent;
    }
    complete = complete && target.status.has_value();
  }
  if (!complete) return;
  --batch.writing;
  bool anyWritten = false;
  bool allFull = true;
  for (const PutState::Target& target : put.targets) {
    anyWritten = anyWritten || *target.status == KV_OK;
    allFull = allFull && *target.status == KV_NO_SPACE;
    if (*target.status != KV_OK) put.writeFailure = *target.status;
  }
  put.outcome = anyWritten ? PutOutcome::Written : allFull ? PutOutcome::NoSpace : PutOutcome::Failed;
  if (put.outcome == PutOutcome::Failed) ++put.failedTries;
  if (anyWritten && batch.asked.op == OpCode::PutStart) return started(batch, result.line);
  batches_.publish(batch, result.line);
}

/// From now on the caller has it.
void PutFlow::started(Batch& batch, uint32_t line) {
  Line& opened = batch.lines[line];
  OpenPut put{opened.op.length, context_.now + kOpenPutMs, {}};
  for (const PutState::Target& target : opened.put.targets) {
    if (target.status == KV_OK) put.places.push_back({target.node, target.connection, target.extent});
  }
  open_.add(opened.put.object, std::move(put));
  batches_.end(batch, line, KV_OK);
  opened.result.object = opened.put.object;
}

PublishLine PutFlow::publishLine(const Batch& batch, uint32_t line) {
  const PutState& put = batch.lines[line].put;
  PublishLine publish{batch.key(line), put.object, put.outcome, {}};
  for (const PutState::Target& target : put.targets) {
    if (target.status == KV_OK) publish.committed.push_back(target.node);
  }
  return publish;
}

void PutFlow::published(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply) {
  for (size_t i = 0; i < lines.size(); ++i) {
    publishedLine(batch, lines[i], reply.results[i].status);
  }
}

void PutFlow::publishedLine(Batch& batch, uint32_t line, int32_t status) {
  PutState& put = batch.lines[line].put;
  // The grant was given back; whatever the leader thinks of that, the next step is a new grant.
  if (put.outcome == PutOutcome::NoSpace) return nodesFull(batch, line);
  // The tenant of this process may have changed, and the grant have come by a connection of before.
  if (put.outcome == PutOutcome::Failed && put.writeFailure == KV_NOT_PERMITTED && put.refusedTries++ == 0) {
    return batches_.askLater(batch, line, put.writeFailure);
  }
  if (put.outcome == PutOutcome::Failed && isFinal(put.writeFailure)) {
    return batches_.end(batch, line, put.writeFailure);
  }
  if (put.outcome == PutOutcome::Failed) return batches_.askLater(batch, line, put.writeFailure);
  switch (status) {
    case KV_OK:
      context_.statistics.putBytes += batch.lines[line].op.length;
      [[fallthrough]];
    case KV_EXISTS:  // put: the first one won; upsert: a newer one followed ours
      return batches_.end(batch, line, KV_OK);
    default:  // the grant is void (older epoch, deadline passed, nodes gone): try from the start
      if (isFinal(status)) return batches_.end(batch, line, status);
      return batches_.askLater(batch, line, status);
  }
}

}  // namespace kvpool::client
