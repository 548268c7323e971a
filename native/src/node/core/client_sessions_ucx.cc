// SPDX-License-Identifier: Apache-2.0
// The part of ClientSessions that moves payloads through UCX: the node reads and writes memory that the client offers.
#include <utility>

#include "base/checked.h"
#include "node/core/client_sessions.h"
#include "store/staging.h"

namespace kvpool::node {

void ClientSessions::attachUcx(ConnectionId id, Session& session, const UcxAttach& request) {
  if (session.local) throw wire::Malformed("memory for UCX is offered by tcp only");
  if (session.ucxAttach || session.stagingBytes > 0) throw wire::Malformed("staging memory is attached already");
  if (request.offer.bytes == 0 || request.offer.bytes > store::kStagingBytesMax ||
      request.offer.bytes > UINT64_MAX - request.offer.address) {
    throw wire::Malformed("staging memory of " + std::to_string(request.offer.bytes) + " bytes is offered");
  }
  session.ucxAttach = Attach{request.requestId, request.offer.bytes};
  if (!context_.config.ucx) {
    return ucxConnected(id, {KV_CONNECT_FAILED, "node " + context_.config.self.name +
                                                    " does not offer ucx: " + context_.config.ucxProblem});
  }
  context_.outbox.add(ConnectUcx{id, request.offer});
}

void ClientSessions::ucxConnected(ConnectionId id, const Status& outcome) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.ucxAttach) return;  // it left meanwhile
  Session& session = found->second;
  const Attach attach = *session.ucxAttach;
  session.ucxAttach.reset();
  if (outcome.ok()) {
    session.ucx = true;
    session.stagingBytes = attach.bytes;
    ++context_.stats.ucxClients;
  } else {
    ++context_.stats.ucxRefusals;
    context_.outbox.note(LogLevel::Warning, session.peer + " goes on by tcp: " + outcome.text());
  }
  wire::Bytes out;
  appendUcxAttached(out, attach.requestId, outcome);
  context_.outbox.frames(id, std::move(out));
}

void ClientSessions::readStaged(ConnectionId id, Session& session, const StagedRead& request) {
  // What lies on the SSD is sent as it comes from there, by tcp.
  const bool inside = session.ucx && request.read.extent.segment == kMemorySegment &&
                      rangeInside(request.stagingOffset, request.read.payloadLength, 0, session.stagingBytes);
  if (!inside) return refuseRead(id, request.read.requestId, KV_INVALID_ARGUMENT);
  read(id, session, Read{request.read, request.stagingOffset});
}

uint64_t ClientSessions::beginUcx(Session& session, const UcxTransfer& transfer) {
  const uint64_t number = ++lastUcxTransfer_;
  ucxTransfers_.emplace(number, transfer);
  if (++session.ucxTransfers > kUcxTransfersMax) {
    close(transfer.connection, session,
          std::to_string(kUcxTransfersMax) + " transfers through UCX are under way, the most of one connection");
  }
  return number;
}

std::optional<ClientSessions::UcxTransfer> ClientSessions::endUcx(uint64_t transfer) {
  const auto found = ucxTransfers_.find(transfer);
  if (found == ucxTransfers_.end()) return std::nullopt;
  const UcxTransfer ended = found->second;
  ucxTransfers_.erase(found);
  if (const auto session = sessions_.find(ended.connection); session != sessions_.end()) {
    --session->second.ucxTransfers;
  }
  return ended;
}

void ClientSessions::pull(ConnectionId id, Session& session, const WriteRequest& request, uint32_t slot) {
  UcxTransfer transfer{id, request.requestId, request.payloadLength, {}, request.payloadCrc, 0};
  transfer.write = Write{slot, request.requestId, request.authority};
  const uint64_t number = beginUcx(session, transfer);
  context_.outbox.add(PullPayload{id, number, request.stagingOffset, context_.directory.slot(slot).payloadOffset(),
                                  request.payloadLength});
}

void ClientSessions::pulled(uint64_t transfer, bool good, uint32_t computed) {
  const std::optional<UcxTransfer> ended = endUcx(transfer);
  if (!ended) throw std::logic_error("pulled a payload that was not asked for");
  if (!sessions_.contains(ended->connection)) {
    ++context_.stats.writeFailures;
    context_.directory.abort(ended->write->slot);  // only now: the bytes could still change
    return;
  }
  if (good) context_.stats.ucxWriteBytes += ended->length;
  finishWrite(ended->connection, *ended->write, good ? KV_OK : KV_TRANSFER_FAILED, computed, ended->crc);
}

void ClientSessions::push(ConnectionId id, Session& session, const Read& read, const store::Slot& slot) {
  const uint64_t number = beginUcx(session, {id, read.request.requestId, slot.payloadLength, {}, 0, slot.generation});
  context_.directory.pin(slot.generation);
  context_.outbox.add(PushPayload{id, number, *read.stagingOffset, slot.payloadOffset(), slot.payloadLength});
}

void ClientSessions::pushed(uint64_t transfer, bool good) {
  const std::optional<UcxTransfer> ended = endUcx(transfer);
  if (!ended) throw std::logic_error("pushed a payload that was not asked for");
  context_.directory.unpin(ended->generation);
  if (!sessions_.contains(ended->connection)) return;
  if (!good) return refuseRead(ended->connection, ended->requestId, KV_TRANSFER_FAILED);
  context_.stats.ucxReadBytes += ended->length;
  wire::Bytes out;
  appendReadReply(out, ended->requestId, KV_OK, ended->length);
  context_.outbox.frames(ended->connection, std::move(out));
}

}  // namespace kvpool::node
