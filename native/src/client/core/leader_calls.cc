// SPDX-License-Identifier: Apache-2.0
#include "client/core/leader_calls.h"

#include <algorithm>
#include <utility>

#include "client/core/put_flow.h"

namespace kvpool::client {

namespace {

size_t kindOf(const LeaderCalls::Call& call) {
  if (call.step == LeaderCalls::Step::Publish) return KV_REQUEST_PUBLISH;
  switch (call.op) {
    case OpCode::Put:
    case OpCode::PutStart:
      return KV_REQUEST_GRANT;
    case OpCode::Get:
    case OpCode::Locate:
      return KV_REQUEST_LOOKUP;
    case OpCode::Exists:
      return KV_REQUEST_EXISTS;
    case OpCode::Remove:
      return KV_REQUEST_REMOVE;
    case OpCode::RemoveAll:
      return KV_REQUEST_REMOVE_ALL;
    case OpCode::Copy:
      return KV_REQUEST_COPY;
    case OpCode::AskTask:
      return KV_REQUEST_TASK;
    case OpCode::Retain:
    case OpCode::Release:
    case OpCode::Prefetch:
      return KV_REQUEST_HINT;
    case OpCode::PutParts:
    case OpCode::PutEnd:
    case OpCode::PutRevoke:
      break;  // only published
  }
  return KV_REQUEST_PUBLISH;
}

}  // namespace

void LeaderCalls::pump() {
  if (!search_.leader() || search_.renews()) return;
  for (auto& [id, batch] : batches_.all()) {
    if (calls_.size() >= kMasterCallsInFlight) return;
    pump(batch);
  }
}

bool LeaderCalls::publishIsDue(const Batch& batch) const {
  if (batch.toPublish.empty()) return false;
  return batch.writing == 0 || batch.toPublish.size() >= kKeysPerRequest ||
         context_.now - batch.publishSince >= kPublishGatherMs;
}

void LeaderCalls::pump(Batch& batch) {
  while (publishIsDue(batch) && calls_.size() < kMasterCallsInFlight) {
    send(batch, Step::Publish, takeLines(batch, batch.toPublish));
  }
  while (!batch.toAsk.empty() && calls_.size() < kMasterCallsInFlight && batch.writing < kGrantsAhead) {
    send(batch, Step::Ask, takeLines(batch, batch.toAsk));
  }
}

std::vector<uint32_t> LeaderCalls::takeLines(const Batch& batch, std::deque<uint32_t>& from) const {
  std::vector<uint32_t> lines;
  size_t bytes = 0;
  while (!from.empty() && lines.size() < kKeysPerRequest) {
    const Line& line = batch.lines[from.front()];
    bytes += requestBytes(line.op.key) + line.put.targets.size() * sizeof(uint64_t);
    if ((bytes > kRequestBytes || batch.asked.ofGroups) && !lines.empty()) break;
    lines.push_back(from.front());
    from.pop_front();
  }
  return lines;
}

void LeaderCalls::send(Batch& batch, Step step, std::vector<uint32_t> lines) {
  const uint64_t request = context_.newRequest();
  search_.send(encode(batch, step, request, lines));
  calls_[request] = Call{batch.asked.id, step, batch.asked.op, std::move(lines), context_.now};
}

wire::Bytes LeaderCalls::encode(const Batch& batch, Step step, uint64_t request,
                                const std::vector<uint32_t>& lines) const {
  if (step == Step::Publish) {
    std::vector<PublishLine> objects;
    objects.reserve(lines.size());
    for (uint32_t line : lines)
      objects.push_back(PutFlow::publishLine(batch, line));
    return publishRequest(request, objects);
  }
  if (batch.asked.op == OpCode::Put || batch.asked.op == OpCode::PutStart) return encodeGrant(batch, request, lines);
  if (batch.asked.op == OpCode::RemoveAll) return removeAllRequest(request, batch.asked.force, batch.key(0));
  if (batch.asked.op == OpCode::Copy) return copyRequest(request, batch.key(0), batch.asked.copy);
  if (batch.asked.op == OpCode::AskTask) return taskQuery(request, batch.asked.task);
  std::vector<std::string_view> keys;
  keys.reserve(lines.size());
  for (uint32_t line : lines)
    keys.push_back(batch.key(line));
  if (batch.asked.op == OpCode::Get || batch.asked.op == OpCode::Locate) return lookupRequest(request, keys);
  if (batch.asked.op == OpCode::Exists) return existsRequest(request, keys);
  if (isHint(batch.asked.op)) return encodeHint(batch, request, keys);
  return removeRequest(request, {batch.asked.force, batch.asked.ofGroups, batch.asked.nodes}, keys);
}

wire::Bytes LeaderCalls::encodeHint(const Batch& batch, uint64_t request, std::span<const std::string_view> keys) {
  const Hint hint = batch.asked.op == OpCode::Retain    ? Hint::Retain
                    : batch.asked.op == OpCode::Release ? Hint::Release
                                                        : Hint::Prefetch;
  return hintRequest(request, {hint, batch.asked.retainMs, batch.asked.ofGroups}, keys);
}

wire::Bytes LeaderCalls::encodeGrant(const Batch& batch, uint64_t request, const std::vector<uint32_t>& lines) const {
  std::vector<GrantLine> wanted;
  wanted.reserve(lines.size());
  for (uint32_t line : lines)
    wanted.push_back({batch.key(line), batch.lines[line].op.length, batch.retention(line)});
  const bool starts = batch.asked.op == OpCode::PutStart;
  const Time left = starts ? kOpenPutMs : std::clamp<Time>(batch.asked.deadline - context_.now, 1, INT32_MAX);
  const Submission& asked = batch.asked;
  return grantRequest(request, {asked.replicas, static_cast<uint32_t>(left), asked.upsert, asked.nodes}, wanted);
}

std::optional<LeaderCalls::Call> LeaderCalls::take(uint64_t request) {
  auto node = calls_.extract(request);
  if (node.empty()) return std::nullopt;
  constexpr uint64_t kUsPerMs = 1000;
  const Call& call = node.mapped();
  context_.statistics.requests[kindOf(call)].add(static_cast<uint64_t>(context_.now - call.sentAt) * kUsPerMs);
  return std::move(node.mapped());
}

std::vector<LeaderCalls::Call> LeaderCalls::takeAll() {
  std::vector<Call> all;
  for (auto& [request, call] : calls_)
    all.push_back(std::move(call));
  calls_.clear();
  return all;
}

std::optional<ReplyHead> headOf(const Reply& reply) {
  if (const auto* grant = std::get_if<GrantReply>(&reply)) {
    return ReplyHead{grant->request, grant->status, grant->grants.size(), grant->authority.epoch};
  }
  if (const auto* lookup = std::get_if<LookupReply>(&reply)) {
    return ReplyHead{lookup->request, lookup->status, lookup->objects.size(), lookup->authority.epoch};
  }
  if (const auto* keys = std::get_if<KeysReply>(&reply)) {
    return ReplyHead{keys->request, keys->status, keys->results.size(), 0};
  }
  if (const auto* all = std::get_if<RemoveAllReply>(&reply)) return ReplyHead{all->request, all->status, 1, 0};
  if (const auto* task = std::get_if<TaskReply>(&reply)) return ReplyHead{task->request, task->status, 1, 0};
  return std::nullopt;
}

bool fits(const LeaderCalls::Call& call, const Reply& reply) {
  if (call.step == LeaderCalls::Step::Publish) return std::holds_alternative<KeysReply>(reply);
  switch (call.op) {
    case OpCode::Put:
    case OpCode::PutStart:
      return std::holds_alternative<GrantReply>(reply);
    case OpCode::Get:
    case OpCode::Locate:
      return std::holds_alternative<LookupReply>(reply);
    case OpCode::Exists:
    case OpCode::Remove:
    case OpCode::Retain:
    case OpCode::Release:
    case OpCode::Prefetch:
      return std::holds_alternative<KeysReply>(reply);
    case OpCode::RemoveAll:
      return std::holds_alternative<RemoveAllReply>(reply);
    case OpCode::Copy:
    case OpCode::AskTask:
      return std::holds_alternative<TaskReply>(reply);
    case OpCode::PutParts:
    case OpCode::PutEnd:
    case OpCode::PutRevoke:
      break;  // only published
  }
  return false;
}

}  // namespace kvpool::client
