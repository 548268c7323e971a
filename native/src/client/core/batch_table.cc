// SPDX-License-Identifier: Apache-2.0
#include "client/core/batch_table.h"

#include <unordered_map>
#include <utility>

#include "base/utf8.h"

namespace kvpool::client {
namespace {

/// A miss and an object that is there already are answers.
bool isFailure(int32_t status) {
  return status != KV_OK && status != KV_NOT_FOUND && status != KV_EXISTS;
}

std::string sentence(const Operation& op, int32_t status) {
  constexpr size_t kKeyShown = 64;
  std::string name = isUtf8(op.key) ? std::string(op.key.substr(0, kKeyShown)) : "";
  while (!isUtf8(name))
    name.pop_back();  // cut within a character
  return "key '" + name + (name.size() < op.key.size() ? "...'" : "'") + " of " + std::to_string(op.key.size()) +
         " bytes, buffer of " + std::to_string(op.length) + " bytes: " + statusText(status);
}

}  // namespace

int32_t judgeKey(std::string_view key) {
  const bool fits = !key.empty() && key.size() <= KV_KEY_BYTES_MAX;
  return fits && isUtf8(key) ? KV_OK : KV_INVALID_KEY;
}

Batch& BatchTable::admit(Submission submission) {
  const BatchId id = submission.id;
  Batch& batch = batches_[id];
  batch.asked = std::move(submission);
  batch.lines.resize(batch.asked.lines.size());
  batch.open = static_cast<uint32_t>(batch.lines.size());
  batch.explainedBefore = context_.explanations();
  for (size_t i = 0; i < batch.lines.size(); ++i)
    batch.lines[i].op = batch.asked.lines[i];
  batch.asked.lines.clear();
  chainEqualKeys(batch);
  return batch;
}

void BatchTable::chainEqualKeys(Batch& batch) {
  const bool changes = batch.asked.op == OpCode::Put || batch.asked.op == OpCode::Remove;
  std::unordered_map<std::string_view, uint32_t> latest;
  std::vector<uint32_t> first;
  for (uint32_t i = 0; i < batch.lines.size(); ++i) {
    if (changes) {
      const auto [entry, isNew] = latest.try_emplace(batch.key(i), i);
      if (!isNew) {
        batch.lines[entry->second].next = i;
        entry->second = i;
        continue;
      }
    }
    first.push_back(i);
  }
  for (uint32_t line : first)
    begin(batch, line);
}

void BatchTable::begin(Batch& batch, uint32_t line) {
  const Operation& op = batch.lines[line].op;
  int32_t status = op.refused;
  if (status == KV_OK && batch.asked.op != OpCode::RemoveAll && batch.asked.op != OpCode::AskTask)
    status = judgeKey(op.key);
  if (status != KV_OK) return end(batch, line, status);
  ask(batch, line);
}

Batch* BatchTable::find(BatchId id) {
  const auto found = batches_.find(id);
  return found == batches_.end() ? nullptr : &found->second;
}

void BatchTable::delay(Batch& batch, uint32_t line, int32_t obstacle, bool publishes) {
  Line& waiting = batch.lines[line];
  waiting.obstacle = obstacle;
  ++context_.statistics.retries;
  delayed_.push({context_.now + context_.backoffMs(waiting.tries++), batch.asked.id, line, publishes});
}

void BatchTable::publish(Batch& batch, uint32_t line) {
  if (batch.toPublish.empty()) batch.publishSince = context_.now;
  batch.toPublish.push_back(line);
}

void BatchTable::end(Batch& batch, uint32_t line, int32_t status, uint64_t length) {
  // A long chain of refused lines would nest deeply if each ended the next.
  std::optional<uint32_t> at = line;
  while (at) {
    Line& ending = batch.lines[*at];
    if (ending.done) return;
    ending.done = true;
    ending.result = {status, length};
    if (isFailure(status) && context_.explanations() == batch.explainedBefore)
      context_.explain(sentence(ending.op, status));
    --batch.open;
    at = ending.next;
    if (!at) return;
    const Operation& op = batch.lines[*at].op;
    status = op.refused != KV_OK ? op.refused : judgeKey(op.key);
    length = 0;
    if (status == KV_OK) return ask(batch, *at);
  }
}

void BatchTable::wakeDelayed() {
  while (!delayed_.empty() && delayed_.top().at <= context_.now) {
    const Delayed due = delayed_.top();
    delayed_.pop();
    Batch* batch = find(due.batch);
    if (batch == nullptr || batch->lines[due.line].done) continue;
    if (due.publishes) {
      publish(*batch, due.line);
    } else {
      ask(*batch, due.line);
    }
  }
}

void BatchTable::sweep() {
  for (auto entry = batches_.begin(); entry != batches_.end();) {
    Batch& batch = entry->second;
    if (batch.open > 0) {
      ++entry;
      continue;
    }
    FinishBatch finished{batch.asked.id, {}};
    finished.lines.reserve(batch.lines.size());
    for (const Line& line : batch.lines)
      finished.lines.push_back(line.result);
    context_.act(std::move(finished));
    entry = batches_.erase(entry);
  }
}

}  // namespace kvpool::client
