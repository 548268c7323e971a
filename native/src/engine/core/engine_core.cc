// SPDX-License-Identifier: Apache-2.0
#include "engine/core/engine_core.h"

#include <algorithm>
#include <utility>

#include "engine/core/membership.h"

namespace kvpool::engine {

Status EngineCore::unregisterRegions(std::span<const kv_region> regions) {
  const Result<std::vector<uint64_t>> gone = context_.regions.remove(regions);
  if (!gone.ok()) return gone.status();
  sessions_.regionsGone(gone.value());
  return {};
}

void EngineCore::submit(Time now, Submission submission) {
  const BatchId id = submission.id;
  const std::vector<PeerLines> peers = context_.batches.add(std::move(submission));
  if (auto finished = context_.batches.ifEmpty(id)) return context_.act(std::move(*finished));
  for (const PeerLines& peer : peers) {
    PeerLink* link = linkTo(peer.peer);
    if (link != nullptr) {
      link->add(now, peer, id);
      continue;
    }
    context_.explanation = std::to_string(kPeersMax) + " peers are known, the most there may be at a time";
    for (const uint32_t line : peer.lines)
      context_.batches.settle(id, line, KV_QUEUE_FULL);
    if (auto finished = context_.batches.peerDone(id)) context_.act(std::move(*finished));
  }
}

/// Null when there are too many. Links that do nothing make room.
PeerLink* EngineCore::linkTo(const std::string& peer) {
  if (const auto found = links_.find(peer); found != links_.end()) return found->second.get();
  if (links_.size() >= kPeersMax) {
    std::erase_if(links_, [](const auto& entry) { return entry.second->connection() == 0 && !entry.second->busy(); });
  }
  if (links_.size() >= kPeersMax) return nullptr;
  return links_.emplace(peer, std::make_unique<PeerLink>(context_, peer)).first->second.get();
}

PeerLink* EngineCore::linkOf(ConnectionId id) {
  const auto found = context_.links.find(id);
  return found == context_.links.end() ? nullptr : found->second;
}

const Description* EngineCore::descriptionOf(const std::string& peer) const {
  const auto found = links_.find(peer);
  return found == links_.end() ? nullptr : found->second->description();
}

void EngineCore::cancel(Time now, BatchId id) {
  for (const auto& [peer, link] : links_)
    link->cancel(now, id);
}

bool EngineCore::isMoving(BatchId id) const {
  return std::ranges::any_of(links_, [&](const auto& entry) { return entry.second->isMoving(id); });
}

void EngineCore::moved(Time now, uint64_t move, const Status& status) {
  for (const auto& [peer, link] : links_) {
    if (link->isMove(move)) return link->moved(now, move, status);
  }
}

void EngineCore::shutDown(Time now) {
  for (const BatchId id : context_.batches.all()) {
    cancel(now, id);
    if (context_.batches.has(id)) context_.act(context_.batches.end(id, KV_CLOSED));
  }
}

void EngineCore::identify(Time now, const Principal& self) {
  const bool same = context_.self && isSameMember(*context_.self, self);
  context_.self = self;
  if (same) return;
  for (const auto& [peer, link] : links_)
    link->identified(now);
  sessions_.identified();
}

void EngineCore::frame(Time now, ConnectionId id, wire::Body body) {
  if (PeerLink* link = linkOf(id)) return link->frame(now, body);
  if (sessions_.has(id)) sessions_.frame(now, id, body);
}

void EngineCore::malformed(Time now, ConnectionId id, const std::string& what) {
  if (PeerLink* link = linkOf(id)) return link->malformed(now, what);
  if (sessions_.has(id)) sessions_.malformed(id, what);
}

void EngineCore::payloadReceived(Time now, ConnectionId id, uint32_t computedCrc, uint32_t sentCrc) {
  if (PeerLink* link = linkOf(id)) return link->payloadReceived(now, computedCrc, sentCrc);
  sessions_.payloadReceived(now, id, computedCrc, sentCrc);
}

void EngineCore::pulled(Time now, ConnectionId id, PayloadId pull, const Pulled& end) {
  if (PeerLink* link = linkOf(id)) return link->pulled(now, pull, end);
  sessions_.pulled(now, id, pull, end);
}

void EngineCore::payloadSent(Time now, ConnectionId id, PayloadId payload) {
  if (PeerLink* link = linkOf(id)) return link->payloadSent(now, payload);
  sessions_.payloadSent(id, payload);
}

void EngineCore::received(Time now, ConnectionId id) {
  if (PeerLink* link = linkOf(id)) return link->progressed(now);
  sessions_.received(now, id);
}

void EngineCore::sent(Time now, ConnectionId id, uint64_t unsentFrames) {
  if (PeerLink* link = linkOf(id)) return link->progressed(now);
  sessions_.sent(now, id, unsentFrames);
}

void EngineCore::closed(Time now, ConnectionId id, const std::string& reason) {
  if (PeerLink* link = linkOf(id)) return link->closed(now, reason);
  sessions_.closed(id);
}

void EngineCore::silent(Time now, ConnectionId id, const std::string& reason) {
  if (PeerLink* link = linkOf(id)) return link->silent(now, reason);
  sessions_.closed(id);
}

void EngineCore::tick(Time now) {
  for (const BatchId id : context_.batches.expired(now)) {
    if (isMoving(id)) continue;  // CANN ends it by the same deadline
    cancel(now, id);
    // Connections that had to be cut for another batch may have ended this one.
    if (context_.batches.has(id)) context_.act(context_.batches.end(id, KV_TIMEOUT));
  }
  for (const auto& [peer, link] : links_)
    link->tick(now);
  sessions_.tick(now);
}

size_t EngineCore::peersConnected() const {
  return static_cast<size_t>(
      std::count_if(links_.begin(), links_.end(), [](const auto& entry) { return entry.second->ready(); }));
}

}  // namespace kvpool::engine
