// SPDX-License-Identifier: Apache-2.0
#include "client/shell/frontend.h"

#include <algorithm>
#include <span>
#include <utility>

#include "client/core/key_flow.h"

namespace kvpool::client {
namespace {

/// Of a line without pieces, whose memory is one that is empty.
constexpr uint64_t kNowhere = 0;

void nameMemory(Operation& line, const kv_op& asked, const BatchOptions& options, const MemoryRegistry& registered,
                LentMemory::Loans& loans) {
  line.memory = Pieces(asked.data, asked.length);
  if (options.inPieces) {
    const uint64_t piecesMax = options.offsets == nullptr ? KV_PIECES_MAX : KV_PARTS_MAX;
    const bool whole = asked.length <= piecesMax && (asked.data != nullptr || asked.length == 0);
    if (!whole) {
      line.refused = KV_INVALID_ARGUMENT;
      return;
    }
    line.memory = Pieces(std::span(static_cast<const kv_piece*>(asked.data), asked.length));
  }
  const auto pieces = line.memory.pieces();
  const auto length = Pieces::lengthOf(pieces);
  line.length = length.value_or(0);
  if (!length) line.refused = KV_INVALID_ARGUMENT;
  const auto isCovered = [&](const kv_piece& piece) { return registered.covers(piece.data, piece.length, loans); };
  if (length && options.registered && !std::all_of(pieces.begin(), pieces.end(), isCovered)) {
    line.refused = KV_NOT_REGISTERED;
  }
}

}  // namespace

void Frontend::borrowFrom(std::shared_ptr<const LentMemory> lender, std::shared_ptr<ascend::Npu> npu) {
  if (npu) npu_.use(std::move(npu));
  memory_.borrowFrom(std::move(lender));
}

Submission submissionOf(OpCode op, const kv_op* table, uint32_t count, const BatchOptions& options,
                        const MemoryRegistry& registered, Time now, LentMemory::Loans& loans) {
  Submission submission;
  submission.op = op;
  submission.deadline = now + options.timeoutMs;
  submission.force = options.force;
  submission.replicas = options.replicas;
  submission.nodes = options.nodes;
  submission.upsert = options.upsert;
  submission.reuse = options.reuse;
  submission.pins = options.pins;
  submission.softPinMs = options.softPinMs;
  submission.ofGroups = options.ofGroups;
  submission.retainMs = options.retainMs;
  submission.copy = options.copy;
  submission.task = options.task;
  submission.lines.resize(count);
  if (op == OpCode::RemoveAll || isOfTask(op)) {
    submission.lines.front().key = {static_cast<const char*>(table->key), table->key_length};
    return submission;
  }
  const bool hasData = op == OpCode::Put || op == OpCode::Get || op == OpCode::PutParts;
  const bool named = op == OpCode::Get || (isOfPutSession(op) && op != OpCode::PutStart);
  for (uint32_t i = 0; i < count; ++i) {
    Operation& line = submission.lines[i];
    const kv_op& asked = table[i];
    if (asked.key == nullptr) {
      line.refused = KV_INVALID_KEY;
      continue;
    }
    line.key = {static_cast<const char*>(asked.key), asked.key_length};
    if ((op == OpCode::Put || op == OpCode::PutStart) && options.groups != nullptr) line.group = options.groups[i];
    if (named && options.objects != nullptr) line.meant = {options.objects[i].epoch, options.objects[i].counter};
    if (op == OpCode::PutStart) line.length = asked.length;
    if (op == OpCode::Locate && asked.data == nullptr && asked.length > 0) line.refused = KV_INVALID_ARGUMENT;
    if (!hasData) continue;
    nameMemory(line, asked, options, registered, loans);
    if (options.offsets == nullptr) continue;
    line.offsets = asked.length == 0 ? &kNowhere : options.offsets[i];
    if (line.offsets == nullptr) line.refused = KV_INVALID_ARGUMENT;
  }
  return submission;
}

Status Frontend::copyMemory(std::span<const kv_memory_copy> copies) {
  LentMemory::Loans loans;
  for (const kv_memory_copy& one : copies) {
    const bool isRange = (one.to != nullptr && one.from != nullptr) || one.length == 0;
    if (!isRange)
      return {KV_INVALID_ARGUMENT, "a copy of " + std::to_string(one.length) + " bytes needs two addresses"};
    if (!memory_.covers(one.to, one.length, loans) && !memory_.covers(one.from, one.length, loans))
      return {KV_NOT_REGISTERED, "a copy neither from registered memory nor to it"};
  }
  return devices_.copy(copies);
}

Result<uint64_t> Frontend::removeAll(std::string_view pattern, bool force, uint32_t timeoutMs) {
  constexpr std::string_view kWhatPatternsAre =
      "a pattern is a regular expression of RE2's syntax, of at most 1024 bytes of UTF-8 and 256 parts, repeated ones "
      "counted as often as they repeat";
  if (pattern.size() > kPatternBytesMax || (!pattern.empty() && judgeKey(pattern) != KV_OK))
    return {KV_INVALID_ARGUMENT, std::string("remove_all: ") + std::string(kWhatPatternsAre)};
  BatchOptions options;
  options.force = force;
  kv_op all{};
  all.key = pattern.data();
  all.key_length = static_cast<uint32_t>(pattern.size());
  if (Status begun = run(OpCode::RemoveAll, all, std::move(options), timeoutMs); !begun.ok()) return begun;
  if (all.status == KV_INVALID_ARGUMENT && !pattern.empty())
    return {all.status, std::string("remove_all: ") + std::string(kWhatPatternsAre)};
  if (all.status != KV_OK) return {all.status, std::string("remove_all: ") + statusText(all.status)};
  return all.result_length;
}

Status Frontend::run(OpCode op, kv_op& line, BatchOptions options, uint32_t timeoutMs) {
  constexpr uint32_t kWaitMs = 1000;
  options.timeoutMs = timeoutMs;
  options.waits = true;
  const Result<uint64_t> batch = submit(op, &line, 1, options);
  if (!batch.ok()) return batch.status();
  while (wait(batch.value(), kWaitMs) == KV_TIMEOUT) {
    // Ends by the batch's own deadline.
  }
  return {};
}

Result<uint64_t> Frontend::copy(std::string_view key, CopyWish wish, uint32_t timeoutMs) {
  BatchOptions options;
  options.copy = std::move(wish);
  kv_op line{};
  line.key = key.data();
  line.key_length = static_cast<uint32_t>(key.size());
  if (Status begun = run(OpCode::Copy, line, std::move(options), timeoutMs); !begun.ok()) return begun;
  if (line.status != KV_OK) return {line.status, std::string("copy: ") + statusText(line.status)};
  return line.result_length;
}

Result<TaskReply> Frontend::task(uint64_t task, uint32_t timeoutMs) {
  kv_object_id times{};
  BatchOptions options;
  options.task = task;
  options.objects = &times;
  kv_op line{};
  if (Status begun = run(OpCode::AskTask, line, std::move(options), timeoutMs); !begun.ok()) return begun;
  if (line.status != KV_OK) return {line.status, std::string("task: ") + statusText(line.status)};
  return TaskResult::of(line.result_length, {times.epoch, times.counter});
}

}  // namespace kvpool::client
