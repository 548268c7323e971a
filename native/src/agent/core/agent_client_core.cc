// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_client_core.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "dev_kvpool_wire/AgentState.h"
#include "dev_kvpool_wire/Refused.h"
#include "wire/frame.h"

namespace kvpool::agent {

namespace sbe = wire::sbe;
using client::LineResult;
using client::OpCode;

// ---- the connection ----

void AgentClientCore::connected(Time now, std::span<uint8_t> staging) {
  staging_ = staging;
  ring_ = client::StagingRing(staging.size());
  stage_ = Stage::Greeting;
  since_ = now;
  hello_ = wire::Hello{config_.me, 0, wire::kMagic};
  actions_.frames.push_back(wire::framed(wire::appendHello, hello_));
}

void AgentClientCore::frame(Time now, wire::Body body) {
  if (stage_ == Stage::Down || dropped_) return;
  try {
    switch (wire::templateOf(body)) {
      case sbe::Refused::sbeTemplateId():
        return drop(wire::refusalStatus(wire::readRefused(body), name()));
      case sbe::AgentState::sbeTemplateId():
        state_ = readState(body);
        statistics_.epoch = state_.epoch;
        statistics_.leaderKnown = stage_ == Stage::Attached && state_.leaderKnown;
        return;
      default:
        break;
    }
    switch (stage_) {
      case Stage::Greeting:
        greeted(body);
        break;
      case Stage::Attaching:
        attached(body);
        break;
      default:
        answered(readReply(body));
        break;
    }
  } catch (const wire::Malformed& malformed) {
    return drop(Status(KV_PROTOCOL, name() + " sent malformed bytes: " + malformed.what()));
  }
  pump(now);
  sweep();
}

void AgentClientCore::greeted(wire::Body body) {
  const Status fits = wire::judgeWelcome(wire::readWelcome(body), wire::Role::Agent, hello_);
  if (!fits.ok()) return drop(fits);
  stage_ = Stage::Attaching;
  actions_.frames.push_back(attachFrame(config_.stagingBytes));
  actions_.handOver = true;
}

void AgentClientCore::attached(wire::Body body) {
  const Attached answer = readAttached(body);
  if (answer.status != KV_OK) return drop(Status(answer.status, name() + ": " + answer.message));
  stage_ = Stage::Attached;
  redialMs_ = kRedialFirstMs;
}

void AgentClientCore::drop(const Status& why) {
  hopeless_ = why.code() == KV_VERSION_MISMATCH || why.code() == KV_TOO_LARGE || why.code() == KV_INVALID_ARGUMENT;
  dropped_ = true;
  actions_.close = true;
  why_ = why;
  explanation_ = why.text();
}

void AgentClientCore::lost(Time now, const std::string& reason) {
  if (!std::exchange(dropped_, false)) {
    const bool wasThere = stage_ != Stage::Down;
    hopeless_ = false;
    why_ = Status(KV_CONNECT_FAILED, wasThere ? name() + " is gone: " + reason
                                              : "cannot reach " + name() + ": " + reason + "; does it run here?");
  }
  stage_ = Stage::Down;
  dialAt_ = now + redialMs_;
  redialMs_ = std::min(2 * redialMs_, kRedialLongestMs);
  statistics_.leaderKnown = false;
  staging_ = {};
  for (const auto& [id, sent] : std::exchange(sent_, {})) {
    const auto found = batches_.find(sent.batch);
    if (found == batches_.end()) continue;
    --found->second.running;
    for (auto line = sent.lines.rbegin(); line != sent.lines.rend(); ++line)
      takeBack(found->second, *line);
  }
}

std::optional<Time> AgentClientCore::dialAt() const {
  if (stage_ != Stage::Down) return std::nullopt;
  return dialAt_;
}

Status AgentClientCore::readiness() const {
  if (stage_ != Stage::Attached) return why_;
  if (!state_.leaderKnown) return {KV_CONNECT_FAILED, name() + " has no leader: " + state_.message};
  return {};
}

// ---- ending ----

void AgentClientCore::tick(Time now) {
  const bool hangs = stage_ == Stage::Greeting || stage_ == Stage::Attaching;
  if (hangs && now - since_ >= kGreetingMs) {
    drop(Status(KV_TIMEOUT, name() + " did not answer within " + std::to_string(kGreetingMs) + " ms"));
  }
  expire(now);
  pump(now);
  sweep();
}

void AgentClientCore::expire(Time now) {
  for (auto& [id, batch] : batches_) {
    if (now < batch.asked.deadline) continue;
    const bool isUp = stage_ == Stage::Attached;
    const bool mayAnswer = isUp && now < batch.asked.deadline + kGraceMs;
    if (mayAnswer && batch.waiting.empty()) continue;
    explanation_ = isUp ? name() + " did not answer in time" : why_.text();
    const int32_t status = isUp ? int32_t{KV_TIMEOUT} : why_.code();
    for (const uint32_t line : std::exchange(batch.waiting, {}))
      end(batch, line, status);
    for (uint32_t line = 0; line < batch.results.size() && !mayAnswer; ++line) {
      if (batch.results[line].status == kOpen) end(batch, line, status);
    }
  }
}

void AgentClientCore::shutDown() {
  for (auto& [id, batch] : batches_) {
    client::FinishBatch finished{id, batch.results};
    for (LineResult& line : finished.lines) {
      if (line.status == kOpen) line.status = KV_CLOSED;
    }
    actions_.finished.push_back(std::move(finished));
  }
  batches_.clear();
}

/// Hands finished batches to the shell and forgets them.
void AgentClientCore::sweep() {
  for (auto entry = batches_.begin(); entry != batches_.end();) {
    if (entry->second.open > 0) {
      ++entry;
      continue;
    }
    actions_.finished.push_back({entry->first, std::move(entry->second.results)});
    entry = batches_.erase(entry);
  }
}

// ---- batches in ----

void AgentClientCore::submit(Time now, client::Submission submission) {
  const client::BatchId id = submission.id;
  Batch& batch = batches_[id];
  batch.asked = std::move(submission);
  const auto& lines = batch.asked.lines;
  batch.results.resize(lines.size(), {kOpen, 0});
  batch.lost.resize(lines.size());
  batch.open = static_cast<uint32_t>(lines.size());
  if (batch.asked.op == OpCode::Put) statistics_.puts += lines.size();
  if (batch.asked.op == OpCode::Get) statistics_.gets += lines.size();
  const bool changes = batch.asked.op == OpCode::Put || batch.asked.op == OpCode::Remove;
  std::unordered_set<std::string_view> keys;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    int32_t status = lines[i].refused;
    if (status == KV_OK && batch.asked.op != OpCode::RemoveAll) status = client::judgeKey(lines[i].key);
    if (status != KV_OK) {
      explanation_ = "line " + std::to_string(i) + ": " + statusText(status);
      end(batch, i, status);
      continue;
    }
    if (changes && !keys.insert(lines[i].key).second) batch.inOrder = true;
    batch.waiting.push_back(i);
  }
  refuseWhatNeverFits(batch);
  pump(now);
  sweep();
}

void AgentClientCore::refuseWhatNeverFits(Batch& batch) {
  if (batch.asked.op != OpCode::Put) return;
  std::erase_if(batch.waiting, [&](uint32_t line) {
    const uint64_t length = batch.asked.lines[line].length;
    if (length <= config_.stagingBytes) return false;
    explanation_ = "a value of " + std::to_string(length) + " bytes does not fit into the " +
                   std::to_string(config_.stagingBytes) + " bytes of staging memory shared with " + name() +
                   "; attach with more";
    end(batch, line, KV_TOO_LARGE);
    return true;
  });
}

/// How much staging memory a line needs. A reader that offers more than there is may still ask for a smaller object.
uint64_t AgentClientCore::roomOf(const Batch& batch, uint32_t line) const {
  const bool hasData = batch.asked.op == OpCode::Put || batch.asked.op == OpCode::Get;
  return hasData ? std::min(batch.asked.lines[line].length, config_.stagingBytes) : 0;
}

// ---- requests ----

void AgentClientCore::pump(Time now) {
  if (stage_ != Stage::Attached) return;
  for (auto& [id, batch] : batches_) {
    while (!batch.waiting.empty() && !(batch.inOrder && batch.running > 0)) {
      if (sent_.size() >= kRequestsInFlight || !sendOne(now, id, batch)) return;
    }
  }
}

/// False while there is no room.
bool AgentClientCore::sendOne(Time now, client::BatchId id, Batch& batch) {
  const client::Submission& asked = batch.asked;
  Request request;
  Sent sent;
  uint64_t bytes = 0;
  fillRequest(batch, request, sent, bytes);
  const std::optional<uint64_t> block = ring_.take(bytes);
  if (!block) return false;
  batch.waiting.erase(batch.waiting.begin(), batch.waiting.begin() + static_cast<std::ptrdiff_t>(sent.lines.size()));
  for (RequestLine& line : request.lines)
    line.offset += *block;
  request.id = ++lastRequest_;
  request.timeoutMs = static_cast<uint32_t>(std::max<Time>(asked.deadline - now, 0));
  request.op = asked.op;
  request.force = asked.force;
  request.upsert = asked.upsert;
  request.reuse = asked.reuse;
  request.replicas = static_cast<uint8_t>(asked.replicas);
  request.pins = asked.pins;
  request.softPinMs = asked.softPinMs;
  request.ofGroups = asked.ofGroups;
  request.retainMs = asked.retainMs;
  request.nodes = asked.nodes;
  sent.batch = id;
  sent.block = *block;
  sent.places = request.lines;
  if (asked.op == OpCode::Put) copyIn(batch, sent);
  actions_.frames.push_back(requestFrame(request));
  ++batch.running;
  sent_.emplace(request.id, std::move(sent));
  return true;
}

/// The next lines of the batch, as many as one request takes: a quarter of the staging memory, so that some are filled
/// while others are on their way, but at least one line. Their offsets begin at 0.
void AgentClientCore::fillRequest(Batch& batch, Request& request, Sent& sent, uint64_t& bytes) const {
  constexpr size_t kHeadBytes = 1024 + wire::kTextBytesMax;  // of a request beside its lines
  size_t frameBytes = kHeadBytes;
  for (const uint32_t line : batch.waiting) {
    const client::Operation& op = batch.asked.lines[line];
    const uint64_t room = roomOf(batch, line);
    const uint64_t offset = (bytes + kRequestAlignment - 1) / kRequestAlignment * kRequestAlignment;
    frameBytes += lineRoom(op.key);
    const bool full = request.lines.size() == kLinesPerRequest || frameBytes > kRequestBytes ||
                      offset + room > config_.stagingBytes / 4;
    if (full && !request.lines.empty()) return;
    request.lines.push_back({op.key, offset, room, op.group});
    sent.lines.push_back(line);
    bytes = offset + room;
  }
}

void AgentClientCore::copyIn(const Batch& batch, const Sent& sent) {
  for (size_t i = 0; i < sent.lines.size(); ++i) {
    uint8_t* to = staging_.data() + sent.places[i].offset;
    uint64_t left = sent.places[i].length;
    for (PieceCursor from(batch.asked.lines[sent.lines[i]].memory); left > 0;) {
      const std::span<uint8_t> run = from.run(left);
      std::memcpy(to, run.data(), run.size());
      to += run.size();
      left -= run.size();
      from.advance(run.size());
    }
  }
}

// ---- answers ----

void AgentClientCore::answered(const Reply& reply) {
  const auto found = sent_.find(reply.id);
  if (found == sent_.end()) throw wire::Malformed("an answer to nothing that was asked");
  judge(reply, found->second);
  const Sent sent = std::move(found->second);
  sent_.erase(found);
  const auto owner = batches_.find(sent.batch);
  if (owner != batches_.end()) {  // else its time ran out
    Batch& batch = owner->second;
    --batch.running;
    if (!reply.message.empty()) explanation_ = reply.message;
    for (size_t i = 0; i < sent.lines.size(); ++i)
      answerLine(batch, sent.lines[i], sent.places[i], reply.lines[i]);
  }
  ring_.release(sent.block);
}

void AgentClientCore::judge(const Reply& reply, const Sent& sent) const {
  if (reply.lines.size() != sent.lines.size()) throw wire::Malformed("an answer with another number of lines");
  const auto owner = batches_.find(sent.batch);
  const bool reads = owner != batches_.end() && owner->second.asked.op == OpCode::Get;
  for (size_t i = 0; i < sent.lines.size(); ++i) {
    if (reply.lines[i].status > 0) throw wire::Malformed("an unknown status");
    if (!reads || reply.lines[i].status != KV_OK) continue;
    if (reply.lines[i].length > sent.places[i].length) throw wire::Malformed("a value longer than the room for it");
  }
}

void AgentClientCore::answerLine(Batch& batch, uint32_t line, const RequestLine& place, LineResult result) {
  const OpCode op = batch.asked.op;
  if (op == OpCode::Remove && result.status == KV_NOT_FOUND && batch.lost[line]) result = {KV_OK, 0};
  if (op == OpCode::Get && result.status == KV_OK) {
    copyOut(batch, line, place.offset, result.length);
    statistics_.getBytes += result.length;
    statistics_.shmBytes += result.length;
    ++statistics_.hits;
  } else if (op == OpCode::Get) {
    ++statistics_.misses;
  }
  if (op == OpCode::Put && result.status == KV_OK) {
    statistics_.putBytes += place.length;
    statistics_.shmBytes += place.length;
  }
  const bool wouldFitTheCaller =
      result.status == KV_BUFFER_TOO_SMALL && result.length <= batch.asked.lines[line].length;
  if (wouldFitTheCaller) {
    result.status = KV_TOO_LARGE;
    explanation_ = "a value of " + std::to_string(result.length) + " bytes does not fit into the " +
                   std::to_string(config_.stagingBytes) + " bytes of staging memory shared with " + name() +
                   "; attach with more";
  }
  end(batch, line, result.status, result.length);
}

void AgentClientCore::copyOut(const Batch& batch, uint32_t line, uint64_t offset, uint64_t length) {
  const uint8_t* from = staging_.data() + offset;
  for (PieceCursor to(batch.asked.lines[line].memory); length > 0;) {
    const std::span<uint8_t> run = to.run(length);
    std::memcpy(run.data(), from, run.size());
    from += run.size();
    length -= run.size();
    to.advance(run.size());
  }
}

/// The line is asked again. Later lines are taken back first, so that their order stays.
void AgentClientCore::takeBack(Batch& batch, uint32_t line) {
  batch.lost[line] = true;
  batch.waiting.push_front(line);
  ++statistics_.retries;
}

void AgentClientCore::end(Batch& batch, uint32_t line, int32_t status, uint64_t length) {
  batch.results[line] = {status, length};
  --batch.open;
}

}  // namespace kvpool::agent
