// SPDX-License-Identifier: Apache-2.0
// The part of ClientSessions that reads from the SSD: begun as soon as there is room, answered in the order of
// requests.
#include <utility>
#include <vector>

#include "node/client_sessions.h"

namespace kvpool::node {

int32_t ClientSessions::beginTierRead(ConnectionId id, Session& session, Read& read) {
  const ReadRequest& request = read.request;
  const Result<Tier::Begun> begun =
      tier_.beginRead(request.extent, request.objectId, request.payloadLength, session.tierBytes);
  if (!begun.ok()) return begun.status().code();
  session.tierBytes += request.payloadLength;
  read.tierOp = begun.value().op;
  read.crc = begun.value().crc;
  tierReads_.emplace(read.tierOp, id);
  return KV_OK;
}

void ClientSessions::releaseTier(Session& session, uint64_t bytes) {
  session.tierBytes -= bytes;
  tier_.releaseRead(bytes);
}

bool ClientSessions::serveTier(ConnectionId id, Session& session, Read& read) {
  if (read.tierOp == 0) {
    const int32_t begun = beginTierRead(id, session, read);
    if (begun == KV_QUEUE_FULL) starved_.push_back(id);
    if (begun != KV_NOT_FOUND) return false;
    read.status = KV_NOT_FOUND;
  } else if (!read.arrived) {
    return false;
  }
  const uint64_t length = read.request.payloadLength;
  if (read.status != KV_OK) {
    ++context_.stats.readMisses;
    refuseRead(id, read.request.requestId, read.status);
    return true;
  }
  ++context_.stats.reads;
  context_.stats.readBytes += length;
  wire::Bytes out;
  appendReadReply(out, read.request.requestId, KV_OK, length);
  context_.outbox.frames(id, std::move(out));
  context_.outbox.add(SendTierPayload{id, read.tierOp, length, read.crc});
  session.sending.push_back({0, length, true});
  return true;
}

/// The SSD is faster when it is asked for several at a time.
void ClientSessions::readAhead(ConnectionId id, Session& session) {
  size_t looked = 0;
  for (Read& read : session.reads) {
    if (++looked > kReadsAheadMax) return;
    const bool may = read.request.extent.segment == kTierSegment && read.tierOp == 0 && looked > 1;
    if (may && tier_.roomForReads(session.tierBytes)) static_cast<void>(beginTierRead(id, session, read));
  }
}

void ClientSessions::tierRead(uint64_t op, int32_t status) {
  const auto reader = tierReads_.find(op);
  const bool wanted = reader != tierReads_.end();
  if (!wanted || status != KV_OK) context_.outbox.add(DropTierPayload{op});
  if (!wanted) return;
  const ConnectionId id = reader->second;
  tierReads_.erase(reader);
  Session& session = sessions_.at(id);
  for (Read& read : session.reads) {
    if (read.tierOp != op) continue;
    read.arrived = true;
    read.status = status;
    if (status != KV_OK) releaseTier(session, read.request.payloadLength);
  }
  continueReads(id, session);
  readAhead(id, session);
  feedStarved();
}

void ClientSessions::tierEnded(const std::vector<uint64_t>& begun) {
  for (const uint64_t op : begun)
    tierRead(op, KV_NOT_FOUND);
  feedStarved();
}

void ClientSessions::feedStarved() {
  if (starved_.empty() || !tier_.roomForReads(0)) return;
  for (const ConnectionId id : std::exchange(starved_, {})) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) continueReads(id, found->second);
  }
}

}  // namespace kvpool::node
