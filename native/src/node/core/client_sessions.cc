// SPDX-License-Identifier: Apache-2.0
#include "node/core/client_sessions.h"

#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/Hello.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/StagedRead.h"
#include "dev_kvpool_wire/UcxAttach.h"
#include "dev_kvpool_wire/WriteRequest.h"

namespace kvpool::node {

namespace sbe = wire::sbe;

void ClientSessions::accepted(uint64_t nowMs, ConnectionId id, bool local, const std::string& peer) {
  Session& session = sessions_[id];
  session.local = local;
  session.peer = peer;
  session.helloUntilMs = nowMs + wire::kHelloTimeoutMs;
  session.usedMs = nowMs;
  if (sessions_.size() - closing_ <= context_.config.clientConnectionsMax || makeRoom(nowMs)) return;
  const std::string bound = std::to_string(context_.config.clientConnectionsMax) +
                            " connections of clients are open, the most this node takes; close some";
  wire::Bytes out;
  wire::appendRefused(out, {wire::Refusal::Limit, context_.config.self.wire, bound});
  context_.outbox.frames(id, std::move(out));
  close(id, session, bound);
}

/// Closes the connection that has been idle longest. A client that has more to ask opens it again.
bool ClientSessions::makeRoom(uint64_t nowMs) {
  auto longest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    const Session& session = it->second;
    if (session.closing || session.busy() || nowMs - session.usedMs < kMakesWayMs) continue;
    if (longest == sessions_.end() || session.usedMs < longest->second.usedMs) longest = it;
  }
  if (longest == sessions_.end()) return false;
  close(longest->first, longest->second,
        "idle, and others want one of the " + std::to_string(context_.config.clientConnectionsMax) + " connections");
  return true;
}

void ClientSessions::frame(uint64_t nowMs, ConnectionId id, wire::Body body) {
  Session& session = sessions_.at(id);
  if (session.closing) return;
  session.usedMs = nowMs;
  if (session.write || session.attach) throw std::logic_error("frame handed in during a payload");
  const uint16_t type = wire::templateOf(body);
  if (!session.welcomed) {
    if (type != sbe::Hello::sbeTemplateId()) throw wire::Malformed("the first frame is not a Hello");
    return hello(id, session, body);
  }
  switch (type) {
    case sbe::WriteRequest::SBE_TEMPLATE_ID:
      return write(id, session, readWriteRequest(body));
    case sbe::ReadRequest::SBE_TEMPLATE_ID:
      return read(id, session, Read{readReadRequest(body)});
    case sbe::ShmAttach::SBE_TEMPLATE_ID:
      return attach(id, session, readShmAttach(body));
    case sbe::UcxAttach::SBE_TEMPLATE_ID:
      return attachUcx(id, session, readUcxAttach(body));
    case sbe::StagedRead::SBE_TEMPLATE_ID:
      return readStaged(id, session, readStagedRead(body));
    case sbe::Heartbeat::SBE_TEMPLATE_ID:
      return;
    default:
      throw wire::Malformed("message " + std::to_string(type) + " is not for a node");
  }
}

void ClientSessions::malformed(ConnectionId id, const std::string& what) {
  Session& session = sessions_.at(id);
  if (session.closing) return;
  ++context_.stats.protocolErrors;
  if (!session.welcomed) {
    wire::Bytes out;
    wire::appendRefused(out, {wire::Refusal::Protocol, context_.config.self.wire,
                              "this is the data port of kvpool node " + context_.config.self.name + ": " + what});
    context_.outbox.frames(id, std::move(out));
  }
  close(id, session, what);
}

void ClientSessions::hello(ConnectionId id, Session& session, wire::Body body) {
  const wire::Hello hello = wire::readHello(body);
  const wire::Identity& self = context_.config.self;
  std::variant<wire::Welcome, wire::Refused> answer =
      self.poolId.isAny()
          ? wire::Refused{wire::Refusal::PoolMismatch, self.wire,
                          "node " + self.name + " has not met a master yet; try again soon"}
          : wire::judgeHello(hello, self, {wire::Role::Client, false, session.local, context_.state.active()});
  wire::Bytes out;
  if (const auto* refused = std::get_if<wire::Refused>(&answer)) {
    wire::appendRefused(out, *refused);
    context_.outbox.frames(id, std::move(out));
    return close(id, session, refused->message);
  }
  wire::appendWelcome(out, std::get<wire::Welcome>(answer));
  context_.outbox.frames(id, std::move(out));
  session.welcomed = true;
  session.wire = hello.self.wire;
  session.layout = hello.self.layout;
}

/// A leader may have raised the numbers since the client came. One that reads our file would miss what is written now.
bool ClientSessions::knowsActive(const Session& session) const {
  const wire::ActiveVersions active = context_.state.active();
  return wire::contains(session.wire, active.wire) && (!session.local || wire::contains(session.layout, active.layout));
}

Status ClientSessions::admitWrite(const Session& session, const WriteRequest& request) const {
  const int32_t authority = context_.obedience.judge(request.authority);
  if (authority != KV_OK) return {authority, "grant of " + toString(request.authority)};
  if (!request.staging) return {};
  if (session.stagingBytes == 0) return {KV_INVALID_ARGUMENT, "no staging memory is attached"};
  if (!rangeInside(request.stagingOffset, request.payloadLength, 0, session.stagingBytes)) {
    return {KV_INVALID_ARGUMENT, "outside the staging memory"};
  }
  return {};
}

void ClientSessions::write(ConnectionId id, Session& session, const WriteRequest& request) {
  const Status admitted = admitWrite(session, request);
  if (!admitted.ok()) return refuseWrite(id, session, request, admitted);
  const Result<uint32_t> reserved =
      context_.directory.reserve(request.objectId, request.key, request.payloadLength, request.retention);
  if (!reserved.ok()) return refuseWrite(id, session, request, reserved.status());

  if (request.staging && session.ucx) return pull(id, session, request, reserved.value());
  session.write = Write{reserved.value(), request.requestId, request.authority};
  const uint64_t offset = context_.directory.slot(reserved.value()).payloadOffset();
  if (request.staging) {
    context_.outbox.add(CopyStaging{id, request.stagingOffset, offset, request.payloadLength, request.payloadCrc});
  } else {
    context_.outbox.add(ReceivePayload{id, offset, request.payloadLength});
  }
}

/// The payload of an inline write comes anyway, behind the frame; it is read and thrown away, up to a bound.
void ClientSessions::refuseWrite(ConnectionId id, Session& session, const WriteRequest& request, const Status& why) {
  ++context_.stats.writeFailures;
  if (why.code() == KV_STALE_EPOCH) ++context_.stats.staleRefusals;
  replyWrite(id, request.requestId, why.code(), {});
  if (request.staging) return;
  if (request.payloadLength > context_.directory.geometry().dataBytes) {
    return close(id, session, "a payload larger than the segment was refused");
  }
  context_.outbox.add(DiscardPayload{id, request.payloadLength + wire::kPayloadTrailerBytes});
}

void ClientSessions::payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent) {
  Session& session = sessions_.at(id);
  if (!session.write) throw std::logic_error("payload without a write");
  const Write write = *session.write;
  session.write.reset();
  finishWrite(id, write, KV_OK, computed, sent);
}

/// `status` says whether the payload came at all.
void ClientSessions::finishWrite(ConnectionId id, const Write& write, int32_t status, uint32_t computed,
                                 uint32_t sent) {
  if (status == KV_OK) status = context_.obedience.judge(write.authority);
  if (status == KV_OK && context_.directory.removed(write.slot)) status = KV_STALE_EPOCH;
  if (status == KV_OK && computed != sent) status = KV_CHECKSUM;
  if (status != KV_OK) {
    ++context_.stats.writeFailures;
    if (status == KV_CHECKSUM) ++context_.stats.checksumFailures;
    if (status == KV_STALE_EPOCH) ++context_.stats.staleRefusals;
    context_.directory.abort(write.slot);
    return replyWrite(id, write.requestId, status, {});
  }
  context_.directory.commit(write.slot, computed);
  context_.stream.committed(write.slot);
  const store::Slot& slot = context_.directory.slot(write.slot);
  ++context_.stats.writes;
  context_.stats.writeBytes += slot.payloadLength;
  replyWrite(id, write.requestId, KV_OK, {0, write.slot, slot.generation});
}

void ClientSessions::attach(ConnectionId id, Session& session, const ShmAttach& request) {
  if (!session.local || context_.config.shm.empty()) {
    throw wire::Malformed("shared memory is attached through the node's unix socket only");
  }
  if (session.attached) throw wire::Malformed("shared memory is attached already");
  session.attach = Attach{request.requestId, request.stagingBytes};
  if (request.stagingBytes == 0) return stagingMapped(id, {});
  context_.outbox.add(MapStaging{id, request.stagingBytes});
}

void ClientSessions::stagingMapped(ConnectionId id, const Status& outcome) {
  Session& session = sessions_.at(id);
  if (!session.attach) throw std::logic_error("staging mapped that was not asked for");
  const Attach attach = *session.attach;
  session.attach.reset();
  wire::Bytes out;
  appendShmAttached(out, attach.requestId, outcome.code(), context_.directory.geometry().fileBytes);
  if (!outcome.ok()) {
    context_.outbox.note(LogLevel::Warning, session.peer + ": " + outcome.text());
    return context_.outbox.frames(id, std::move(out));
  }
  session.attached = true;
  session.stagingBytes = attach.bytes;
  context_.outbox.add(SendSegments{id, std::make_shared<const wire::Bytes>(std::move(out))});
}

void ClientSessions::closed(ConnectionId id) {
  Session& session = sessions_.at(id);
  if (session.write) {
    ++context_.stats.writeFailures;
    context_.directory.abort(session.write->slot);
  }
  if (session.closing) --closing_;
  if (session.ucx) --context_.stats.ucxClients;
  for (const Sending& sending : session.sending) {
    if (!sending.isTier) context_.directory.unpin(sending.generation);
  }
  leaveTier(session);
  std::erase(checking_, id);
  std::erase(starved_, id);
  sessions_.erase(id);
  feedStarved();
}

void ClientSessions::tick(uint64_t nowMs) {
  for (auto& [id, session] : sessions_) {
    if (session.welcomed && !session.closing && !knowsActive(session)) {
      close(id, session, "it does not know the versions that the pool went over to");
    }
    if (session.busy()) session.usedMs = nowMs;
    // The client closes first: what this side closes may have a request on its way.
    if (session.welcomed && !session.closing && nowMs - session.usedMs > 2 * context_.config.clientIdleMs) {
      close(id, session, "was idle");
    }
    if (session.welcomed || session.closing || nowMs < session.helloUntilMs) continue;
    ++context_.stats.protocolErrors;
    close(id, session, "no Hello within " + std::to_string(wire::kHelloTimeoutMs) + " ms");
  }
}

void ClientSessions::replyWrite(ConnectionId id, uint64_t requestId, int32_t status, const ExtentRef& extent) {
  wire::Bytes out;
  appendWriteReply(out, {requestId, status, extent, context_.obedience.seen()});
  context_.outbox.frames(id, std::move(out));
}

void ClientSessions::close(ConnectionId id, Session& session, const std::string& reason) {
  if (!std::exchange(session.closing, true)) ++closing_;
  context_.outbox.add(Close{id, session.peer + ": " + reason});
}

}  // namespace kvpool::node
