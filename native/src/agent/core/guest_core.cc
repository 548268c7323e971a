// SPDX-License-Identifier: Apache-2.0
#include "agent/core/guest_core.h"

#include <algorithm>
#include <utility>

#include "dev_kvpool_wire/AgentAttached.h"
#include "dev_kvpool_wire/AgentState.h"
#include "dev_kvpool_wire/Refused.h"
#include "wire/frame.h"

namespace kvpool::agent {

namespace sbe = wire::sbe;
using client::LineResult;

// ---- the connection ----

void GuestCore::connected(Time now, std::span<uint8_t> staging) {
  staging_ = staging;
  ring_ = client::StagingRing(staging.size());
  stage_ = Stage::Greeting;
  since_ = now;
  hello_ = wire::Hello{config_.me, 0, wire::kMagic};
  wire::Bytes frame;
  wire::appendHello(frame, hello_);
  actions_.frames.push_back(std::move(frame));
}

void GuestCore::frame(Time now, wire::Body body) {
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
  } catch (const std::runtime_error& malformed) {
    return drop(Status(KV_PROTOCOL, name() + " sent malformed bytes: " + malformed.what()));
  }
  pump(now);
  sweep();
}

void GuestCore::greeted(wire::Body body) {
  const Status fits = wire::judgeWelcome(wire::readWelcome(body), wire::Role::Agent, hello_);
  if (!fits.ok()) return drop(fits);
  stage_ = Stage::Attaching;
  actions_.frames.push_back(attachFrame(config_.stagingBytes));
  actions_.handOver = true;
}

void GuestCore::attached(wire::Body body) {
  const Attached answer = readAttached(body);
  if (answer.status != KV_OK) return drop(Status(answer.status, name() + ": " + answer.message));
  stage_ = Stage::Attached;
  redialMs_ = kRedialFirstMs;
}

void GuestCore::drop(const Status& why) {
  hopeless_ = why.code() == KV_VERSION_MISMATCH || why.code() == KV_TOO_LARGE || why.code() == KV_INVALID_ARGUMENT;
  dropped_ = true;
  actions_.close = true;
  why_ = why;
  explanation_ = why.text();
}

void GuestCore::lost(Time now, const std::string& reason) {
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

std::optional<Time> GuestCore::dialAt() const {
  if (stage_ != Stage::Down) return std::nullopt;
  return dialAt_;
}

Status GuestCore::readiness() const {
  if (stage_ != Stage::Attached) return why_;
  if (!state_.leaderKnown) return {KV_CONNECT_FAILED, name() + " has no leader: " + state_.message};
  return {};
}

// ---- ending ----

void GuestCore::tick(Time now) {
  const bool hangs = stage_ == Stage::Greeting || stage_ == Stage::Attaching;
  if (hangs && now - since_ >= kGreetingMs) {
    drop(Status(KV_TIMEOUT, name() + " did not answer within " + std::to_string(kGreetingMs) + " ms"));
  }
  expire(now);
  pump(now);
  sweep();
}

void GuestCore::expire(Time now) {
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

void GuestCore::shutDown() {
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
void GuestCore::sweep() {
  for (auto entry = batches_.begin(); entry != batches_.end();) {
    if (entry->second.open > 0) {
      ++entry;
      continue;
    }
    actions_.finished.push_back({entry->first, std::move(entry->second.results)});
    entry = batches_.erase(entry);
  }
}

}  // namespace kvpool::agent
