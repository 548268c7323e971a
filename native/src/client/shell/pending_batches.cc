// SPDX-License-Identifier: Apache-2.0
#include "client/shell/pending_batches.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "base/log.h"

namespace kvpool::client {
namespace {

const char* nameOf(OpCode op) {
  switch (op) {
    case OpCode::Put:
      return "put";
    case OpCode::Get:
      return "get";
    case OpCode::Exists:
      return "exists";
    case OpCode::Remove:
      return "remove";
    case OpCode::RemoveAll:
      return "remove_all";
    case OpCode::Retain:
      return "retain";
    case OpCode::Release:
      return "release";
    case OpCode::Prefetch:
      return "prefetch";
    case OpCode::PutStart:
      return "put_start";
    case OpCode::PutParts:
      return "put_parts";
    case OpCode::PutEnd:
      return "put_end";
    case OpCode::PutRevoke:
      return "put_revoke";
    case OpCode::Copy:
      return "copy";
    case OpCode::AskTask:
      return "task";
    case OpCode::Locate:
      return "locate";
  }
  return "?";
}

void copyText(const std::string& text, std::span<char> out) {
  const size_t length = std::min(text.size(), out.size() - 1);
  std::memcpy(out.data(), text.data(), length);
  out[length] = 0;
}

/// As many as its caller has room for.
void tellPlaces(const kv_op& line, const std::vector<Place>& places) {
  auto* out = static_cast<kv_replica*>(line.data);
  for (size_t i = 0; i < std::min<size_t>(places.size(), line.length); ++i) {
    out[i].length = places[i].objectBytes;
    out[i].offset = places[i].offset;
    out[i].medium = places[i].inMemory ? KV_MEDIUM_DRAM : KV_MEDIUM_SSD;
    out[i].reserved = 0;
    copyText(places[i].node, out[i].node);
    copyText(places[i].address, out[i].address);
  }
}

}  // namespace

Result<BatchId> PendingBatches::add(const Submission& submission, kv_op* table, uint32_t count, LentMemory::Loans loans,
                                    kv_object_id* objects) {
  if (count > operationsMax_ - operations_) {
    return {KV_QUEUE_FULL, std::to_string(operations_) + " operations are in flight or not waited for, and " +
                               std::to_string(count) +
                               " more exceed queue_ops_max = " + std::to_string(operationsMax_)};
  }
  operations_ += count;
  uint64_t bytes = 0;
  if (submission.op == OpCode::Put || submission.op == OpCode::PutParts) {
    for (const Operation& line : submission.lines)
      bytes += line.length;
  }
  batches_[++last_] = Pending{table, objects, count, submission.op, bytes, Clock::now(), std::move(loans), false};
  return last_;
}

bool PendingBatches::finish(const FinishBatch& finished) {
  const auto found = batches_.find(finished.batch);
  if (found == batches_.end()) return false;
  Pending& pending = found->second;
  for (uint32_t i = 0; i < pending.count; ++i) {
    pending.table[i].status = finished.lines[i].status;
    pending.table[i].result_length = finished.lines[i].length;
    if (pending.op == OpCode::Locate) tellPlaces(pending.table[i], finished.lines[i].places);
    const ObjectId& object = finished.lines[i].object;
    if (pending.objects != nullptr && finished.lines[i].status == KV_OK) {
      pending.objects[i] = {object.epoch, object.counter};
    }
  }
  pending.done = true;
  pending.loans.clear();
  measure(finished, pending);
  return true;
}

void PendingBatches::measure(const FinishBatch& finished, const Pending& pending) {
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - pending.since);
  const auto us = static_cast<uint64_t>(took.count());
  if (pending.op == OpCode::Put) puts_.add(us);
  if (pending.op == OpCode::Get) gets_.add(us);
  if (pending.op == OpCode::Put && pending.count == 1) singlePuts_.add(us);
  if (pending.op == OpCode::Get && pending.count == 1) singleGets_.add(us);
  if (!logs(LogLevel::Debug)) return;
  uint64_t bytes = pending.bytes;
  uint32_t good = 0;
  for (const LineResult& line : finished.lines) {
    if (line.status != KV_OK) continue;
    ++good;
    if (pending.op == OpCode::Get) bytes += line.length;
  }
  log(LogLevel::Debug, "batch " + std::to_string(finished.batch) + ": " + nameOf(pending.op) + " of " +
                           std::to_string(pending.count) + " lines with " + std::to_string(bytes) + " bytes, " +
                           std::to_string(good) + " lines KV_OK, " + std::to_string(us) + " us");
}

Statistics PendingBatches::measured(Statistics statistics) const {
  statistics.putBatches = puts_;
  statistics.getBatches = gets_;
  statistics.singlePuts = singlePuts_;
  statistics.singleGets = singleGets_;
  return statistics;
}

bool PendingBatches::isOver(BatchId batch) const {
  const auto found = batches_.find(batch);
  return found == batches_.end() || found->second.done;
}

int32_t PendingBatches::forget(BatchId batch) {
  const auto found = batches_.find(batch);
  if (found == batches_.end()) return KV_INVALID_ARGUMENT;
  operations_ -= found->second.count;
  batches_.erase(found);
  return KV_OK;
}

}  // namespace kvpool::client
