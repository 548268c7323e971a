// SPDX-License-Identifier: Apache-2.0
// The part of ClientSessions that reads from the SSD: begun in the order of the requests, as far as there is room,
// and answered as they come. Nothing else of the connection waits for them.
#include <utility>
#include <vector>

#include "node/core/client_sessions.h"

namespace kvpool::node {

void ClientSessions::beginTierReads(ConnectionId id, Session& session) {
  while (!session.starved && !session.tierReads.empty() && session.tierOps.size() < kTierReadsMax) {
    const ReadRequest request = session.tierReads.front();
    const Result<Tier::Begun> begun =
        tier_.beginRead(request.extent, request.objectId, request.payloadLength, session.tierBytes);
    if (begun.status().code() == KV_QUEUE_FULL) {
      session.starved = true;
      starved_.push_back(id);
      return;
    }
    session.tierReads.pop_front();
    if (!begun.ok()) {
      ++context_.stats.readMisses;
      refuseRead(id, request.requestId, begun.status().code());
      continue;
    }
    session.tierBytes += begun.value().heldBytes;
    session.tierOps.push_back(begun.value().op);
    tierReads_.emplace(begun.value().op, TierRead{id, request, begun.value().crc, begun.value().heldBytes});
  }
}

void ClientSessions::tierRead(uint64_t op, int32_t status) {
  const auto found = tierReads_.find(op);
  const bool wanted = found != tierReads_.end() && !found->second.left;
  if (!wanted || status != KV_OK) context_.outbox.add(DropTierPayload{op});
  if (found == tierReads_.end()) return;
  const TierRead read = found->second;
  tierReads_.erase(found);
  if (read.left) {
    tier_.releaseRead(read.heldBytes);
    return feedStarved();
  }
  Session& session = sessions_.at(read.connection);
  std::erase(session.tierOps, op);
  if (status == KV_OK) {
    sendTier(session, op, read);
  } else {
    ++context_.stats.readMisses;
    refuseRead(read.connection, read.request.requestId, status);
    releaseTier(session, read.heldBytes);
  }
  beginTierReads(read.connection, session);
  feedStarved();
}

void ClientSessions::sendTier(Session& session, uint64_t op, const TierRead& read) {
  const uint64_t length = read.request.payloadLength;
  ++context_.stats.reads;
  context_.stats.readBytes += length;
  wire::Bytes out;
  appendReadReply(out, read.request.requestId, KV_OK, length);
  context_.outbox.frames(read.connection, std::move(out));
  context_.outbox.add(SendTierPayload{read.connection, op, length, read.crc});
  session.sending.push_back({0, read.heldBytes, true});
}

/// The disk still reads what was begun: whoever asks and leaves, again and again, shares the memory with everybody
/// else.
void ClientSessions::leaveTier(const Session& session) {
  uint64_t unsent = session.tierBytes;
  for (const uint64_t op : session.tierOps) {
    TierRead& read = tierReads_.at(op);
    read.left = true;
    unsent -= read.heldBytes;
    context_.outbox.add(CancelTierRead{op});
  }
  tier_.releaseRead(unsent);
}

void ClientSessions::tierEnded(const std::vector<uint64_t>& begun) {
  for (const uint64_t op : begun)
    tierRead(op, KV_NOT_FOUND);
  feedStarved();
}

void ClientSessions::releaseTier(Session& session, uint64_t bytes) {
  session.tierBytes -= bytes;
  tier_.releaseRead(bytes);
}

void ClientSessions::feedStarved() {
  if (starved_.empty() || !tier_.roomForReads(0)) return;
  for (const ConnectionId id : std::exchange(starved_, {})) {
    Session& session = sessions_.at(id);
    session.starved = false;
    beginTierReads(id, session);
  }
}

}  // namespace kvpool::node
