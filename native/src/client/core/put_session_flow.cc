// SPDX-License-Identifier: Apache-2.0
#include "client/core/put_session_flow.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.h"

namespace kvpool::client {
namespace {

bool areInside(const Operation& op, uint64_t length) {
  const std::span<const kv_piece> pieces = op.memory.pieces();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!rangeInside(op.offsets[i], pieces[i].length, 0, length)) return false;
  }
  return true;
}

/// The leader that granted it is obeyed no more, or the grant has ended.
bool isVoid(int32_t status) {
  return status == KV_STALE_EPOCH || status == KV_NOT_FENCED;
}

}  // namespace

void PutSessionFlow::begin(Batch& batch, const PoolId& pool) {
  if (batch.asked.op == OpCode::PutStart) {
    if (open_.count() + batch.lines.size() <= kOpenPutsMax) return;
    context_.explain("this client writes " + std::to_string(open_.count()) + " values in parts, and " +
                     std::to_string(batch.lines.size()) + " more exceed " + std::to_string(kOpenPutsMax));
    for (const uint32_t line : std::exchange(batch.toAsk, {}))
      batches_.end(batch, line, KV_QUEUE_FULL);
    return;
  }
  for (const uint32_t line : std::exchange(batch.toAsk, {})) {
    if (batch.asked.op == OpCode::PutParts) {
      beginParts(batch, line, pool);
    } else {
      beginEnd(batch, line, pool);
    }
  }
}

void PutSessionFlow::beginParts(Batch& batch, uint32_t line, const PoolId& pool) {
  const Operation& op = batch.lines[line].op;
  const OpenPut* put = open_.find(op.meant, context_.now);
  if (put == nullptr || put->places.empty()) return isOver(batch, line);
  if (!areInside(op, put->length)) return batches_.end(batch, line, KV_INVALID_ARGUMENT, put->length);
  if (op.length == 0) return batches_.end(batch, line, KV_OK);
  send(batch, line, Direction::Part, *put, pool);
}

/// What follows is told to the leader even where no node has the value: the key is free again.
void PutSessionFlow::beginEnd(Batch& batch, uint32_t line, const PoolId& pool) {
  const ObjectId object = batch.lines[line].op.meant;
  const OpenPut* found = open_.find(object, context_.now);
  if (found == nullptr) return isOver(batch, line);
  const OpenPut put = *found;
  open_.erase(object);
  batch.lines[line].put.object = object;
  ++batch.writing;
  if (put.places.empty()) return endDone(batch, line);
  send(batch, line, batch.asked.op == OpCode::PutEnd ? Direction::Commit : Direction::Abort, put, pool);
}

void PutSessionFlow::send(Batch& batch, uint32_t line, Direction direction, const OpenPut& put, const PoolId& pool) {
  PutState& state = batch.lines[line].put;
  const Operation& op = batch.lines[line].op;
  state.targets.clear();
  for (const OpenPut::Place& place : put.places)
    state.targets.push_back({place.node, context_.newRequest(), std::nullopt, place.connection, place.extent});
  for (const PutState::Target& target : state.targets) {
    Transfer transfer;
    transfer.id = target.transfer;
    transfer.direction = direction;
    transfer.batch = batch.asked.id;
    transfer.line = line;
    transfer.node = target.node;
    transfer.connection = target.connection;
    transfer.extent = target.extent;
    transfer.object = op.meant;
    if (direction == Direction::Part) {
      transfer.memory = op.memory;
      transfer.length = op.length;
      transfer.offsets = op.offsets;
    }
    // With another copy a node that stands still is left behind; one that commits has to look at the whole value first.
    const int64_t patienceMs = direction == Direction::Part ? kFallOverMs : kCommitPatienceMs;
    transfer.patienceMs = put.places.size() > 1 ? patienceMs : 0;
    links_.start(transfer, pool);
  }
}

void PutSessionFlow::answered(Batch& batch, const TransferResult& result) {
  std::vector<PutState::Target>& targets = batch.lines[result.line].put.targets;
  for (PutState::Target& target : targets) {
    if (target.transfer == result.id) target.status = result.status;
  }
  const auto isAnswered = [](const PutState::Target& target) { return target.status.has_value(); };
  if (!std::all_of(targets.begin(), targets.end(), isAnswered)) return;
  if (batch.asked.op == OpCode::PutParts) {
    partsDone(batch, result.line);
  } else {
    endDone(batch, result.line);
  }
}

/// A node that lacks a part has no use for the others.
void PutSessionFlow::partsDone(Batch& batch, uint32_t line) {
  const Line& written = batch.lines[line];
  int32_t failure = KV_OK;
  bool any = false;
  OpenPut* put = open_.find(written.op.meant, context_.now);
  for (const PutState::Target& target : written.put.targets) {
    if (*target.status == KV_OK) {
      any = true;
      continue;
    }
    failure = *target.status;
    const OpenPut::Place place{target.node, target.connection, target.extent};
    giveBack(written.op.meant, place);
    const auto isIt = [&](const OpenPut::Place& other) {
      return other.connection == place.connection && other.extent == place.extent;
    };
    if (put != nullptr) std::erase_if(put->places, isIt);
  }
  if (put == nullptr) return isOver(batch, line);
  if (!any) return batches_.end(batch, line, failure);
  context_.statistics.putBytes += written.op.length;
  batches_.end(batch, line, KV_OK, written.op.length);
}

void PutSessionFlow::endDone(Batch& batch, uint32_t line) {
  PutState& put = batch.lines[line].put;
  --batch.writing;
  put.outcome = PutOutcome::Failed;
  put.writeFailure = KV_LEASE_EXPIRED;
  for (const PutState::Target& target : put.targets) {
    if (*target.status == KV_OK && batch.asked.op == OpCode::PutEnd) put.outcome = PutOutcome::Written;
    if (*target.status != KV_OK && !isVoid(*target.status)) put.writeFailure = *target.status;
  }
  batches_.publish(batch, line);
}

void PutSessionFlow::published(Batch& batch, std::span<const uint32_t> lines, const KeysReply& reply) {
  for (size_t i = 0; i < lines.size(); ++i) {
    const PutState& put = batch.lines[lines[i]].put;
    const int32_t status = reply.results[i].status;
    if (batch.asked.op == OpCode::PutRevoke) {
      batches_.end(batch, lines[i], KV_OK);
    } else if (put.outcome != PutOutcome::Written) {
      batches_.end(batch, lines[i], put.writeFailure);
    } else if (isVoid(status)) {
      isOver(batch, lines[i]);
    } else {  // KV_EXISTS: a newer one has followed ours
      batches_.end(batch, lines[i], status == KV_EXISTS ? KV_OK : status);
    }
  }
}

void PutSessionFlow::isOver(Batch& batch, uint32_t line) {
  context_.explain("what was written in parts is over: it ended, or lasted longer than " + std::to_string(kOpenPutMs) +
                   " ms, or its nodes or its leader are gone; start it again");
  batches_.end(batch, line, KV_LEASE_EXPIRED);
}

void PutSessionFlow::giveUpStart(const Line& line) {
  for (const PutState::Target& target : line.put.targets) {
    if (target.status == KV_OK) giveBack(line.put.object, {target.node, target.connection, target.extent});
  }
}

/// No batch waits for the answer.
void PutSessionFlow::giveBack(const ObjectId& object, const OpenPut::Place& place) {
  if (links_.nodeConnection(place.connection) == nullptr) return;
  Transfer transfer;
  transfer.id = context_.newRequest();
  transfer.direction = Direction::Abort;
  transfer.node = place.node;
  transfer.connection = place.connection;
  transfer.extent = place.extent;
  transfer.object = object;
  links_.start(transfer, {});
}

void PutSessionFlow::tick() {
  for (const auto& [object, put] : open_.takeExpired(context_.now)) {
    for (const OpenPut::Place& place : put.places)
      giveBack(object, place);
  }
}

}  // namespace kvpool::client
