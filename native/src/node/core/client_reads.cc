// SPDX-License-Identifier: Apache-2.0
// The part of ClientSessions that answers reads. Those of memory in the order of the requests, each payload checked
// before it is first sent; those of the SSD go by themselves, when they come.
#include <stdexcept>
#include <string>
#include <utility>

#include "node/core/client_sessions.h"

namespace kvpool::node {

void ClientSessions::read(ConnectionId id, Session& session, const Read& read) {
  const size_t waiting = session.reads.size() + session.tierReads.size() + session.tierOps.size();
  if (session.sending.size() + waiting >= kReadsQueuedMax) {
    return close(id, session, std::to_string(kReadsQueuedMax) + " reads wait, the most of one connection");
  }
  if (read.request.extent.segment == kTierSegment) {
    session.tierReads.push_back(read.request);
    return beginTierReads(id, session);
  }
  session.reads.push_back(read);
  if (session.reads.size() == 1) continueReads(id, session);
}

/// In the order of the requests, as far as no payload has to be checked first.
void ClientSessions::continueReads(ConnectionId id, Session& session) {
  while (!session.reads.empty() && !session.check) {
    if (!serve(id, session, session.reads.front())) return;
    session.reads.pop_front();
  }
}

bool ClientSessions::serve(ConnectionId id, Session& session, const Read& read) {
  const ReadRequest& request = read.request;
  const store::Slot* slot = context_.directory.find(request.extent, request.objectId);
  if (slot == nullptr || slot->payloadLength != request.payloadLength) {
    ++context_.stats.readMisses;
    refuseRead(id, request.requestId, KV_NOT_FOUND);
    return true;
  }
  if (!slot->verified) {
    session.check.emplace(request.extent.slot, request.extent.generation);
    checking_.push_back(id);
    return false;
  }
  ++context_.stats.reads;
  context_.stats.readBytes += slot->payloadLength;
  if (read.stagingOffset) {
    push(id, session, read, *slot);
    return true;
  }
  wire::Bytes out;
  appendReadReply(out, request.requestId, KV_OK, slot->payloadLength);
  context_.directory.pin(slot->generation);
  session.sending.push_back({slot->generation, 0, false});
  context_.outbox.frames(id, std::move(out));
  context_.outbox.add(SendPayload{id, slot->payloadOffset(), slot->payloadLength, slot->payloadCrc});
  return true;
}

void ClientSessions::continueChecks() {
  for (const ConnectionId id : std::exchange(checking_, {})) {
    Session& session = sessions_.at(id);
    const PayloadCheck::Outcome outcome = session.check->step(context_.directory, kCheckBytes);
    if (outcome == PayloadCheck::Outcome::More) {
      checking_.push_back(id);
      continue;
    }
    const uint32_t slot = session.check->slot();
    session.check.reset();
    if (outcome == PayloadCheck::Outcome::Intact) context_.directory.setVerified(slot);
    if (outcome == PayloadCheck::Outcome::Damaged) {
      ++context_.stats.checksumFailures;
      dropDamaged(context_, slot, "its first reader");
      refuseRead(id, session.reads.front().request.requestId, KV_CHECKSUM);
      session.reads.pop_front();
    }
    continueReads(id, session);
  }
}

void ClientSessions::refuseRead(ConnectionId id, uint64_t requestId, int32_t status) {
  wire::Bytes out;
  appendReadReply(out, requestId, status, 0);
  context_.outbox.frames(id, std::move(out));
}

void ClientSessions::payloadSent(ConnectionId id) {
  Session& session = sessions_.at(id);
  if (session.sending.empty()) throw std::logic_error("payload sent that was not asked for");
  const Sending sent = session.sending.front();
  session.sending.pop_front();
  if (!sent.isTier) return context_.directory.unpin(sent.generation);
  releaseTier(session, sent.tierBytes);
  feedStarved();
}

}  // namespace kvpool::node
