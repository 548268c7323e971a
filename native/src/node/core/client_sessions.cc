// SPDX-License-Identifier: Apache-2.0
#include "node/core/client_sessions.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked.h"
#include "dev_kvpool_wire/AscendAttach.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/Hello.h"
#include "dev_kvpool_wire/PartsRead.h"
#include "dev_kvpool_wire/PartsWrite.h"
#include "dev_kvpool_wire/ReadRequest.h"
#include "dev_kvpool_wire/ShmAttach.h"
#include "dev_kvpool_wire/StagedRead.h"
#include "dev_kvpool_wire/UcxAttach.h"
#include "dev_kvpool_wire/WriteRequest.h"
#include "wire/given_up.h"

namespace kvpool::node {

namespace sbe = wire::sbe;

void ClientSessions::accepted(uint64_t nowMs, ConnectionId id, bool local, const std::string& peer,
                              const std::optional<Principal>& who) {
  Session& session = sessions_[id];
  session.local = local;
  session.peer = peer;
  session.who = who;
  session.keys = OwnKeys(who, context_.config.separatesTenants);
  session.helloUntilMs = nowMs + wire::kHelloTimeoutMs;
  session.usedMs = nowMs;
  if (isWithinShare(session) && sessions_.size() - closing_ <= context_.config.clientConnectionsMax) return;
  if (makeRoom(nowMs, id)) return;
  const std::string bound = std::to_string(sessions_.size() - closing_ - 1) + " connections of clients are open, " +
                            std::to_string(connectionsOf(session.party())) +
                            " of them of this one's tenant, the most this node takes; close some";
  context_.outbox.frames(id,
                         wire::framed(wire::appendRefused, {wire::Refusal::Limit, context_.config.self.wire, bound}));
  close(id, session, bound);
}

size_t ClientSessions::connectionsOf(std::string_view party) const {
  return static_cast<size_t>(std::ranges::count_if(
      sessions_, [party](const auto& each) { return !each.second.closing && each.second.party() == party; }));
}

/// A tenant other than `default` leaves a quarter of the connections free; what it has left, members of the pool and
/// other tenants may have.
bool ClientSessions::isWithinShare(const Session& session) const {
  return session.keys.areOfDefault() || 4 * connectionsOf(session.party()) <= 3 * context_.config.clientConnectionsMax;
}

/// Closes the connection that has been idle longest, of those of its own tenant or of one that has more; of the latter
/// also one that was idle for a moment only. Where there is none, and it leaves a quarter free, that of another tenant
/// that has an equal part of all or more: each may have as much, and one of them be busy alone. A client that has more
/// to ask opens it again.
bool ClientSessions::makeRoom(uint64_t nowMs, ConnectionId newcomer) {
  std::unordered_map<std::string_view, size_t> open;
  for (const auto& [id, session] : sessions_)
    open[session.party()] += session.closing ? 0 : 1;
  const std::string_view own = sessions_.at(newcomer).party();
  const size_t max = context_.config.clientConnectionsMax;
  const bool mayHaveOthers = 4 * open.at(own) <= 3 * max;
  const auto parties = static_cast<size_t>(
      std::ranges::count_if(open, [](const auto& each) { return !each.first.empty() && each.second > 0; }));
  auto longest = sessions_.end();
  std::pair<bool, uint64_t> longestRank;
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    const Session& session = it->second;
    const bool hasMore = open.at(session.party()) > open.at(own);
    if (session.closing || session.busy() || openWrites_.has(it->first) || it->first == newcomer) continue;
    const bool isOfEqual = !hasMore && session.party() != own;
    const bool mayLose = !session.party().empty() && open.at(session.party()) * parties >= max;
    if (isOfEqual && !(mayHaveOthers && mayLose)) continue;
    if (!hasMore && nowMs - session.usedMs < kMakesWayMs) continue;
    const std::pair rank(isOfEqual, session.usedMs);
    if (longest != sessions_.end() && longestRank <= rank) continue;
    longest = it;
    longestRank = rank;
  }
  if (longest == sessions_.end()) return false;
  close(longest->first, longest->second, "idle, and others want one of the " + std::to_string(max) + " connections");
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
    case sbe::PartsRead::SBE_TEMPLATE_ID:
      return readParts(id, session, readPartsRead(body));
    case sbe::PartsWrite::SBE_TEMPLATE_ID:
      return writeParts(id, session, readPartsWrite(body));
    case sbe::ShmAttach::SBE_TEMPLATE_ID:
      return attach(id, session, readShmAttach(body));
    case sbe::AscendAttach::SBE_TEMPLATE_ID:
      return attachRemote(id, session, readAscendAttach(body));
    case sbe::UcxAttach::SBE_TEMPLATE_ID:
      return attachRemote(id, session, readUcxAttach(body));
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
    context_.outbox.frames(id, wire::framed(wire::appendRefused, {wire::Refusal::Protocol, context_.config.self.wire,
                                                                  "this is the data port of kvpool node " +
                                                                      context_.config.self.name + ": " + what}));
  }
  close(id, session, what);
}

void ClientSessions::hello(ConnectionId id, Session& session, wire::Body body) {
  const wire::Hello hello = wire::readHello(body);
  const wire::Identity& self = context_.config.self;
  if (session.who && !may(*session.who, Verb::Read)) {
    ++context_.stats.authRefusals;
    const std::string why =
        toString(*session.who) +
        " may not read from storage nodes; connect with a certificate of a tenant, an agent or an admin";
    context_.outbox.frames(id, wire::framed(wire::appendRefused, {wire::Refusal::WrongRole, self.wire, why}));
    return close(id, session, why);
  }
  std::variant<wire::Welcome, wire::Refused> answer =
      self.poolId.isAny()
          ? wire::Refused{wire::Refusal::PoolMismatch, self.wire,
                          "node " + self.name + " has not met a master yet; try again soon"}
          : wire::judgeHello(hello, self, {wire::Role::Client, false, session.local, context_.state.active()});
  if (const auto* refused = std::get_if<wire::Refused>(&answer)) {
    context_.outbox.frames(id, wire::framed(wire::appendRefused, *refused));
    return close(id, session, refused->message);
  }
  context_.outbox.frames(id, wire::framed(wire::appendWelcome, std::get<wire::Welcome>(answer)));
  session.welcomed = true;
  session.wire = hello.self.wire;
  session.layout = hello.self.layout;
}

/// A leader may have raised the numbers since the client came. One that reads our file would miss what is written now.
bool ClientSessions::knowsActive(const Session& session) const {
  const wire::ActiveVersions active = context_.state.active();
  return wire::contains(session.wire, active.wire) && (!session.local || wire::contains(session.layout, active.layout));
}

/// A leader that is followed is found out by its epoch before. Of our own clients one writes so whose certificate is of
/// another tenant than `default` and who came by the unix socket, which says nothing of tenants: nodes for tenants have
/// none. Told once of each connection.
Status ClientSessions::grantRefused(Session& session, const WriteRequest& request) {
  ++context_.stats.grantRefusals;
  Status why{KV_NOT_PERMITTED, "the leader did not grant it object " + toString(request.objectId) + " of " +
                                   std::to_string(request.payloadLength) +
                                   " bytes on this node, under this key, tenant and pins"};
  if (!std::exchange(session.grantRefused, true)) {
    const std::string who = session.who ? " (" + toString(*session.who) + ")" : "";
    context_.outbox.note(LogLevel::Warning, "a write of " + session.peer + who + " is refused: " + why.text());
  }
  return why;
}

/// `key` is the qualified one: empty when this client may not call anything so.
Status ClientSessions::admitWrite(Session& session, const WriteRequest& request, std::string_view key) {
  if (!session.mayWrite()) {
    ++context_.stats.authRefusals;
    return {KV_NOT_PERMITTED, toString(*session.who) + " may not write"};
  }
  const int32_t authority = context_.fencing.judgeWrite(request.authority, request.objectId);
  if (authority != KV_OK) {
    return {authority, "grant of " + toString(request.authority) + " for object " + toString(request.objectId)};
  }
  if (key.empty()) return {KV_INVALID_KEY, "not a key that this client may use"};
  const GrantClaims claims{request.authority, request.objectId, request.payloadLength, request.retention, key};
  if (!context_.fencing.granted(claims, request.mac)) {
    return grantRefused(session, request);
  }
  if (context_.fencing.isOver(request.objectId)) {  // shown again, or so late that it cannot be published any more
    return {KV_STALE_EPOCH, "the grant of object " + toString(request.objectId) + " is over"};
  }
  if (!context_.takes(key)) {
    ++context_.stats.authRefusals;
    return {KV_NOT_PERMITTED,
            "a client has this segment in shared memory, so it takes objects of the tenant default only, until its "
            "machine is started again or the node with an empty segment"};
  }
  if (!request.staging) return {};
  if (session.stagingBytes == 0) return {KV_INVALID_ARGUMENT, "no staging memory is attached"};
  if (!rangeInside(request.stagingOffset, request.payloadLength, 0, session.stagingBytes)) {
    return {KV_INVALID_ARGUMENT, "outside the staging memory"};
  }
  return {};
}

void ClientSessions::write(ConnectionId id, Session& session, const WriteRequest& request) {
  std::string room;
  const std::string_view key = session.keys.qualify(request.key, room);
  Status admitted = admitWrite(session, request, key);
  if (admitted.ok() && request.inParts) admitted = openWrites_.admits(request.payloadLength);
  if (!admitted.ok()) return refuseWrite(id, session, request, admitted);
  const Result<uint32_t> reserved =
      context_.directory.reserve(request.objectId, key, request.payloadLength, request.retention);
  if (!reserved.ok()) return refuseWrite(id, session, request, reserved.status());

  if (request.inParts) {
    openWrites_.add(id, reserved.value(), request.authority, session.usedMs);
    const uint64_t generation = context_.directory.slot(reserved.value()).generation;
    return replyWrite(id, request.requestId, KV_OK, {kMemorySegment, reserved.value(), generation});
  }
  if (request.staging && session.remote) return pull(id, session, request, reserved.value());
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
  if (request.staging || request.inParts) return;
  if (request.payloadLength > context_.directory.geometry().dataBytes) {
    return close(id, session, "a payload larger than the segment was refused");
  }
  context_.outbox.add(DiscardPayload{id, request.payloadLength + wire::kPayloadTrailerBytes});
}

void ClientSessions::payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent) {
  Session& session = sessions_.at(id);
  if (!session.write) throw std::logic_error("payload without a write");
  const Write write = std::move(*session.write);
  session.write.reset();
  if (write.parts) return finishParts(id, write, computed, sent);
  finishWrite(id, write, KV_OK, computed, sent);
}

void ClientSessions::countDamage(uint32_t computed, uint32_t sent) {
  if (sent != wire::givenUp(computed)) ++context_.stats.checksumFailures;
}

/// `status` says whether the payload came at all.
void ClientSessions::finishWrite(ConnectionId id, const Write& write, int32_t status, uint32_t computed,
                                 uint32_t sent) {
  if (status == KV_OK) status = context_.fencing.judge(write.authority);
  if (status == KV_OK && context_.directory.removed(write.slot)) status = KV_STALE_EPOCH;
  if (status == KV_OK && computed != sent) status = KV_CHECKSUM;
  if (status != KV_OK) {
    ++context_.stats.writeFailures;
    if (status == KV_CHECKSUM) countDamage(computed, sent);
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

// ---- writes in parts ----
// The bytes go straight to their place in the extent; the sums are noted at the end.

void ClientSessions::writeParts(ConnectionId id, Session& session, PartsWrite request) {
  uint64_t length = 0;
  for (const store::Range& part : request.parts) {
    const std::optional<uint64_t> sum = checkedAdd(length, part.length);
    if (!sum || *sum > context_.directory.geometry().dataBytes) {
      return close(id, session, "parts of more bytes than the segment holds");
    }
    length = *sum;
  }
  Status judged = openWrites_.judge(id, request);
  // In memory that is offered only whole payloads move. No bytes lie inside of none, too.
  const bool inStaging = session.stagingBytes > 0 && !session.remote &&
                         rangeInside(request.stagingOffset, length, 0, session.stagingBytes);
  if (judged.ok() && request.staging && !inStaging) judged = {KV_INVALID_ARGUMENT, "outside the staging memory"};
  if (judged.ok() && request.step == PartsWrite::Step::Commit) judged = openWrites_.commit(id, request);
  if (!judged.ok()) return refuseParts(id, request, length, judged.code());

  const uint32_t slot = request.extent.slot;
  if (request.step == PartsWrite::Step::Commit) return;  // answered when it is whole
  if (request.step == PartsWrite::Step::Abort) {
    openWrites_.abort(id, slot);
    return replyWrite(id, request.requestId, KV_OK, {});
  }
  std::vector<store::Range> there = openWrites_.beginParts(id, request);
  session.write = Write{slot, request.requestId, {}, std::move(request.parts)};
  if (request.staging) {
    context_.outbox.add(CopyStagingParts{id, request.stagingOffset, std::move(there), length, request.partsCrc});
  } else {
    context_.outbox.add(ReceiveParts{id, std::move(there), length});
  }
}

void ClientSessions::refuseParts(ConnectionId id, const PartsWrite& request, uint64_t length, int32_t status) {
  ++context_.stats.writeFailures;
  replyWrite(id, request.requestId, status, {});
  if (request.staging || request.step != PartsWrite::Step::Write) return;
  context_.outbox.add(DiscardPayload{id, length + wire::kPayloadTrailerBytes});
}

void ClientSessions::finishParts(ConnectionId id, const Write& write, uint32_t computed, uint32_t sent) {
  const bool good = computed == sent;
  openWrites_.endParts(id, write.slot, *write.parts, good);
  if (!good) {
    ++context_.stats.writeFailures;
    countDamage(computed, sent);
  }
  replyWrite(id, write.requestId, good ? KV_OK : KV_CHECKSUM, {});
}

void ClientSessions::attach(ConnectionId id, Session& session, const ShmAttach& request) {
  if (!session.local || context_.config.shm.empty()) {
    throw wire::Malformed("shared memory is attached through the node's unix socket only");
  }
  if (session.attached) throw wire::Malformed("shared memory is attached already");
  session.attach = Attach{request.requestId, request.stagingBytes};
  if (context_.config.separatesTenants && context_.state.was(store::kHeldTenants)) {
    session.attach->bytes = 0;
    return stagingMapped(id,
                         {KV_NOT_PERMITTED,
                          "objects of tenants are or were in the segment, which would show all their bytes; start the "
                          "node with an empty one"});
  }
  if (request.stagingBytes == 0) return stagingMapped(id, {});
  if (const Status room = staging_.take(request.stagingBytes); !room.ok()) {
    session.attach->bytes = 0;
    return stagingMapped(id, room);
  }
  context_.outbox.add(MapStaging{id, request.stagingBytes});
}

void ClientSessions::stagingMapped(ConnectionId id, const Status& outcome) {
  Session& session = sessions_.at(id);
  if (!session.attach) throw std::logic_error("staging mapped that was not asked for");
  const Attach attach = *session.attach;
  session.attach.reset();
  wire::Bytes answer =
      wire::framed(appendShmAttached, attach.requestId, outcome.code(), context_.directory.geometry().fileBytes);
  if (!outcome.ok()) {
    staging_.giveBack(attach.bytes);
    context_.outbox.note(LogLevel::Warning, session.peer + ": " + outcome.text());
    return context_.outbox.frames(id, std::move(answer));
  }
  session.attached = true;
  context_.state.note(store::kShown);
  session.stagingBytes = attach.bytes;
  context_.outbox.add(SendSegments{id, std::make_shared<const wire::Bytes>(std::move(answer))});
}

void ClientSessions::closed(ConnectionId id) {
  Session& session = sessions_.at(id);
  if (session.local) staging_.giveBack(session.attach ? session.attach->bytes : session.stagingBytes);
  if (session.write && !session.write->parts) {
    ++context_.stats.writeFailures;
    context_.directory.abort(session.write->slot);
  }
  openWrites_.closed(id);
  if (session.closing) --closing_;
  if (session.remote) --statsOf(*session.remote).clients;
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
  openWrites_.tick(nowMs);
  for (auto& [id, session] : sessions_) {
    if (session.welcomed && !session.closing && !knowsActive(session)) {
      close(id, session, "it does not know the versions that the pool went over to");
    }
    if (session.busy() || openWrites_.has(id)) session.usedMs = nowMs;
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
  context_.outbox.frames(id, wire::framed(appendWriteReply, {requestId, status, extent, context_.fencing.seen()}));
}

void ClientSessions::close(ConnectionId id, Session& session, const std::string& reason) {
  if (!std::exchange(session.closing, true)) ++closing_;
  // What waits is not answered any more, and the peer may take its time with what was. The first may be looked at.
  for (std::deque<Read>* reads : {&session.reads, &session.tierReads}) {
    if (reads->size() > 1) reads->erase(reads->begin() + 1, reads->end());
  }
  context_.outbox.add(Close{id, session.peer + ": " + reason});
}

// ---- reads ----
// Those of memory are answered in the order of the requests, each payload checked
// before it is first sent; those of the SSD go by themselves, when they come.

void ClientSessions::read(ConnectionId id, Session& session, Read read) {
  const size_t waiting = session.reads.size() + session.tierReads.size() + session.tierOps.size();
  if (session.sending.size() + waiting >= kReadsQueuedMax) {
    return close(id, session, std::to_string(kReadsQueuedMax) + " reads wait, the most of one connection");
  }
  if (read.request.extent.segment == kTierSegment) {
    session.tierReads.push_back(std::move(read));
    return beginTierReads(id, session);
  }
  session.reads.push_back(std::move(read));
  if (session.reads.size() > 1) return;
  continueReads(id, session);
  if (session.checks()) checking_.push_back(id);
}

void ClientSessions::readParts(ConnectionId id, Session& session, PartsRead request) {
  if (partsOf(session) + request.parts.size() > kPartsQueuedMax) {
    return close(id, session, std::to_string(kPartsQueuedMax) + " parts wait to be read, the most of one connection");
  }
  const size_t count = request.parts.size();
  Parts parts{request.payloadCrc, std::move(request.parts), 0, Counted(partsWaiting_, count)};
  for (const store::Range& range : parts.ranges) {
    const bool inside = rangeInside(range.offset, range.length, 0, request.read.payloadLength);
    const std::optional<uint64_t> sum = checkedAdd(parts.length, range.length);
    if (!inside || !sum || *sum > context_.directory.geometry().dataBytes) {
      return refuseRead(id, request.read.requestId, KV_INVALID_ARGUMENT);
    }
    parts.length = *sum;
  }
  read(id, session, Read{request.read, {}, std::move(parts)});
  if (partsWaiting_ > kPartsOfAllMax) closeOneWithMostParts();
}

size_t ClientSessions::partsOf(const Session& session) {
  size_t queued = 0;
  for (const std::deque<Read>* reads : {&session.reads, &session.tierReads}) {
    for (const Read& read : *reads)
      queued += read.partCount();
  }
  return queued;
}

void ClientSessions::closeOneWithMostParts() {
  auto most = sessions_.end();
  size_t mostParts = 0;
  size_t all = 0;
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    if (it->second.closing) continue;
    size_t parts = partsOf(it->second);
    for (const uint64_t op : it->second.tierOps)
      parts += tierReads_.at(op).read.partCount();
    all += parts;
    if (parts > mostParts) most = it;
    mostParts = std::max(mostParts, parts);
  }
  if (all <= kPartsOfAllMax) return;  // the rest goes with those that are closed
  close(most->first, most->second,
        "more parts wait to be read than of any other, and all of them together are more than " +
            std::to_string(kPartsOfAllMax));
}

/// In the order of the requests, as far as no payload has to be looked at first.
void ClientSessions::continueReads(ConnectionId id, Session& session) {
  while (!session.reads.empty() && !session.checks()) {
    if (!serve(id, session, session.reads.front())) return;
    session.reads.pop_front();
  }
}

bool ClientSessions::serve(ConnectionId id, Session& session, const Read& read) {
  const ReadRequest& request = read.request;
  const store::Slot* slot = context_.directory.find(request.extent, request.objectId);
  // Another tenant's object is missed like one that is gone.
  if (slot == nullptr || slot->payloadLength != request.payloadLength ||
      !session.keys.see(context_.directory.key(*slot))) {
    ++context_.stats.readMisses;
    refuseRead(id, request.requestId, KV_NOT_FOUND);
    return true;
  }
  if (!slot->verified) {
    session.check.emplace(request.extent.slot, request.extent.generation);
    return false;
  }
  if (read.parts && read.parts->payloadCrc != slot->payloadCrc) {
    ++context_.stats.checksumFailures;
    refuseRead(id, request.requestId, KV_CHECKSUM);
    return true;
  }
  if (read.parts) {
    session.sum.emplace(request.extent.slot, request.extent.generation);
    return false;
  }
  ++context_.stats.reads;
  context_.stats.readBytes += slot->payloadLength;
  if (read.stagingOffset) {
    push(id, session, read, *slot);
    return true;
  }
  context_.directory.pin(slot->generation);
  session.sending.push_back({slot->generation, 0, false});
  context_.outbox.frames(id, wire::framed(appendReadReply, request.requestId, KV_OK, slot->payloadLength));
  context_.outbox.add(SendPayload{id, slot->payloadOffset(), slot->payloadLength, slot->payloadCrc});
  return true;
}

void ClientSessions::continueChecks() {
  for (const OpenWrites::Whole& whole : openWrites_.step(kCheckBytes)) {
    finishWrite(whole.connection, {whole.slot, whole.requestId, whole.authority}, KV_OK, whole.crc, whole.crc);
  }
  for (const ConnectionId id : std::exchange(checking_, {})) {
    Session& session = sessions_.at(id);
    for (uint64_t bytesMax = kCheckBytes; bytesMax > 0 && session.checks();) {
      session.check ? continueCheck(id, session, bytesMax) : continueSum(id, session, bytesMax);
    }
    if (session.checks()) checking_.push_back(id);
  }
}

void ClientSessions::continueCheck(ConnectionId id, Session& session, uint64_t& bytesMax) {
  const uint64_t before = session.check->checkedBytes();
  const PayloadCheck::Outcome outcome = session.check->step(context_.directory, bytesMax);
  bytesMax -= std::min(bytesMax, std::max<uint64_t>(session.check->checkedBytes() - before, 1));
  if (outcome == PayloadCheck::Outcome::More) return;
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

void ClientSessions::continueSum(ConnectionId id, Session& session, uint64_t& bytesMax) {
  const Read& read = session.reads.front();
  const PartsSum::Outcome outcome = session.sum->step(context_.directory, read.parts->ranges, bytesMax);
  if (outcome == PartsSum::Outcome::More) return;
  const uint32_t crc = session.sum->crc();
  session.sum.reset();
  if (outcome == PartsSum::Outcome::Done) {
    sendParts(id, session, read, crc);
  } else {
    ++context_.stats.readMisses;
    refuseRead(id, read.request.requestId, KV_NOT_FOUND);
  }
  session.reads.pop_front();
  continueReads(id, session);
}

void ClientSessions::sendParts(ConnectionId id, Session& session, const Read& read, uint32_t crc) {
  const store::Slot& slot = context_.directory.slot(read.request.extent.slot);
  ++context_.stats.reads;
  context_.stats.readBytes += read.length();
  context_.directory.pin(slot.generation);
  session.sending.push_back({slot.generation, 0, false});
  context_.outbox.frames(id, wire::framed(appendReadReply, read.request.requestId, KV_OK, read.length()));
  SendParts send{id, read.parts->ranges, read.length(), crc};
  for (store::Range& range : send.parts)
    range.offset += slot.payloadOffset();
  context_.outbox.add(std::move(send));
}

void ClientSessions::refuseRead(ConnectionId id, uint64_t requestId, int32_t status) {
  context_.outbox.frames(id, wire::framed(appendReadReply, requestId, status, 0));
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

// ---- reads from the SSD ----
// Begun in the order of the requests, as far as there is room,
// and answered as they come. Nothing else of the connection waits for them.

// What goes to memory that the client offered is read into staging memory of
// this node, which is taken before: the disk waits for nothing.

void ClientSessions::beginTierReads(ConnectionId id, Session& session) {
  while (!session.starved && !session.staging && !session.tierReads.empty() && session.tierOps.size() < kTierReadsMax) {
    const Read& first = session.tierReads.front();
    if (first.stagingOffset && !first.transfer && tier_.on()) return takeStaging(id, session);
    const Result<Tier::Begun> begun = beginTierRead(session, first);
    if (begun.status().code() == KV_QUEUE_FULL) {
      session.starved = true;
      starved_.push_back(id);
      return;
    }
    Read read = std::move(session.tierReads.front());
    session.tierReads.pop_front();
    if (!begun.ok()) {
      ++context_.stats.readMisses;
      refuseRead(id, read.request.requestId, begun.status().code());
      dropStaging(read);
      continue;
    }
    session.tierBytes += begun.value().heldBytes;
    session.tierOps.push_back(begun.value().op);
    tierReads_.emplace(begun.value().op, TierRead{id, std::move(read), begun.value().crc, begun.value().heldBytes});
  }
}

Result<Tier::Begun> ClientSessions::beginTierRead(const Session& session, const Read& read) {
  const ReadRequest& request = read.request;
  if (read.transfer) {
    return tier_.beginStagedRead(request.extent, request.objectId, request.payloadLength, session.keys, *read.transfer);
  }
  return tier_.beginRead(request.extent, request.objectId, request.payloadLength, session.keys, session.tierBytes);
}

void ClientSessions::takeStaging(ConnectionId id, Session& session) {
  const ReadRequest& request = session.tierReads.front().request;
  const uint64_t number =
      beginTransfer(session, {id, request.requestId, *session.remote, request.payloadLength, {}, 0, 0});
  session.staging = number;
  context_.outbox.add(TakeStaging{id, number, request.payloadLength});
}

void ClientSessions::stagingTaken(uint64_t transfer, bool good) {
  const auto begun = remoteTransfers_.find(transfer);
  if (begun == remoteTransfers_.end()) throw std::logic_error("staging memory was taken that was not asked for");
  const ConnectionId id = begun->second.connection;
  const auto found = sessions_.find(id);
  const bool isWanted = found != sessions_.end() && found->second.staging == transfer;
  if (!good || !isWanted) endTransfer(transfer);
  if (good && !isWanted) context_.outbox.add(DropStaging{transfer});
  if (!isWanted) return;
  Session& session = found->second;
  session.staging.reset();
  if (good) {
    session.tierReads.front().transfer = transfer;
  } else {
    refuseRead(id, session.tierReads.front().request.requestId, KV_TRANSFER_FAILED);
    session.tierReads.pop_front();
  }
  beginTierReads(id, session);
}

/// Once nothing is read into it any more.
void ClientSessions::dropStaging(const Read& read) {
  if (!read.transfer) return;
  endTransfer(*read.transfer);
  context_.outbox.add(DropStaging{*read.transfer});
}

void ClientSessions::tierRead(uint64_t op, int32_t status) {
  const auto found = tierReads_.find(op);
  const bool wanted = found != tierReads_.end() && !found->second.left;
  if (!wanted || status != KV_OK) context_.outbox.add(DropTierPayload{op});
  if (found == tierReads_.end()) return;
  TierRead read = std::move(found->second);
  tierReads_.erase(found);
  if (read.left) {
    dropStaging(read.read);
    tier_.releaseRead(read.heldBytes);
    return feedStarved();
  }
  Session& session = sessions_.at(read.connection);
  std::erase(session.tierOps, op);
  const ConnectionId connection = read.connection;
  if (status != KV_OK) {
    ++context_.stats.readMisses;
    refuseRead(connection, read.read.request.requestId, status);
    dropStaging(read.read);
    releaseTier(session, read.heldBytes);
  } else if (read.read.transfer) {
    pushTier(read);
  } else {
    sendTier(session, op, std::move(read));
  }
  beginTierReads(connection, session);
  feedStarved();
}

void ClientSessions::pushTier(const TierRead& read) {
  ++context_.stats.reads;
  context_.stats.readBytes += read.read.length();
  context_.outbox.add(PushStaged{read.connection, *read.read.transfer, *read.read.stagingOffset, read.read.length()});
}

/// The payload was compared as a whole, so the checksum of parts may be that of the bytes that are sent.
void ClientSessions::sendTier(Session& session, uint64_t op, TierRead read) {
  const uint64_t length = read.read.length();
  ++context_.stats.reads;
  context_.stats.readBytes += length;
  context_.outbox.frames(read.connection, wire::framed(appendReadReply, read.read.request.requestId, KV_OK, length));
  if (read.read.parts) {
    context_.outbox.add(SendTierParts{read.connection, op, std::move(read.read.parts->ranges), length});
  } else {
    context_.outbox.add(SendTierPayload{read.connection, op, length, read.crc});
  }
  session.sending.push_back({0, read.heldBytes, true});
}

/// The disk still reads what was begun: whoever asks and leaves, again and again, shares the memory with everybody
/// else.
void ClientSessions::leaveTier(const Session& session) {
  uint64_t unsent = session.tierBytes;
  for (const uint64_t op : session.tierOps) {
    TierRead& read = tierReads_.at(op);
    read.left = true;
    read.read.parts.reset();
    unsent -= read.heldBytes;
    context_.outbox.add(CancelTierRead{op});
  }
  tier_.releaseRead(unsent);
}

void ClientSessions::tierEnded(const std::vector<uint64_t>& begun) {
  for (const uint64_t op : begun) {
    const auto found = tierReads_.find(op);
    const bool isStaged = found != tierReads_.end() && found->second.read.transfer;
    isStaged ? leaveStaged(op, found->second) : tierRead(op, KV_NOT_FOUND);
  }
  for (auto& [id, session] : sessions_) {
    if (std::exchange(session.staging, std::nullopt)) beginTierReads(id, session);
  }
  feedStarved();
}

/// The disk may still read into staging memory, which is held until it says that it has ended.
void ClientSessions::leaveStaged(uint64_t op, TierRead& read) {
  if (std::exchange(read.left, true)) return;
  ++context_.stats.readMisses;
  refuseRead(read.connection, read.read.request.requestId, KV_NOT_FOUND);
  context_.outbox.add(CancelTierRead{op});
  Session& session = sessions_.at(read.connection);
  std::erase(session.tierOps, op);
  beginTierReads(read.connection, session);
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

// ---- payloads in memory that clients offer ----
// The node reads and writes it, through UCX or CANN.

void ClientSessions::attachRemote(ConnectionId id, Session& session, const StagingAttach& request) {
  if (session.local) throw wire::Malformed("memory is offered by tcp only");
  if (session.remoteAttach || session.stagingBytes > 0) throw wire::Malformed("staging memory is attached already");
  if (request.offer.bytes == 0 || request.offer.bytes > kRemoteOfferBytesMax ||
      request.offer.bytes > UINT64_MAX - request.offer.address) {
    throw wire::Malformed("staging memory of " + std::to_string(request.offer.bytes) + " bytes is offered");
  }
  session.remoteAttach = RemoteAttach{request.requestId, request.offer.bytes, request.offer.protocol};
  if (context_.config.remote != request.offer.protocol) {
    return remoteConnected(
        id, {KV_CONNECT_FAILED, "node " + context_.config.self.name + " does not offer " +
                                    toString(request.offer.protocol) + ": " + context_.config.remoteProblem});
  }
  context_.outbox.add(ConnectRemote{id, request.offer});
}

void ClientSessions::remoteConnected(ConnectionId id, const Status& outcome) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.remoteAttach) return;  // it left meanwhile
  Session& session = found->second;
  const RemoteAttach attach = *session.remoteAttach;
  session.remoteAttach.reset();
  if (outcome.ok()) {
    session.remote = attach.protocol;
    session.stagingBytes = attach.bytes;
    ++statsOf(attach.protocol).clients;
  } else {
    ++statsOf(attach.protocol).refusals;
    context_.outbox.note(LogLevel::Warning, session.peer + " goes on by tcp: " + outcome.text());
  }
  context_.outbox.frames(id, wire::framed(appendUcxAttached, attach.requestId, outcome));
}

void ClientSessions::readStaged(ConnectionId id, Session& session, const StagedRead& request) {
  const uint16_t segment = request.read.extent.segment;
  const bool moves = segment == kMemorySegment || (segment == kTierSegment && context_.config.tierStagingBytes > 0);
  const bool inside = session.remote && moves &&
                      rangeInside(request.stagingOffset, request.read.payloadLength, 0, session.stagingBytes);
  if (!inside) return refuseRead(id, request.read.requestId, KV_INVALID_ARGUMENT);
  read(id, session, Read{request.read, request.stagingOffset});
}

RemoteStats& ClientSessions::statsOf(RemoteProtocol protocol) {
  return protocol == RemoteProtocol::Ucx ? context_.stats.ucx : context_.stats.ascend;
}

uint64_t ClientSessions::beginTransfer(Session& session, const RemoteTransfer& transfer) {
  const uint64_t number = ++lastRemoteTransfer_;
  remoteTransfers_.emplace(number, transfer);
  if (++session.remoteTransfers > kRemoteTransfersMax) {
    close(transfer.connection, session,
          std::to_string(kRemoteTransfersMax) +
              " transfers to and from the memory that it offered are under way, the most of one connection");
  }
  return number;
}

std::optional<ClientSessions::RemoteTransfer> ClientSessions::endTransfer(uint64_t transfer) {
  const auto found = remoteTransfers_.find(transfer);
  if (found == remoteTransfers_.end()) return std::nullopt;
  const RemoteTransfer ended = found->second;
  remoteTransfers_.erase(found);
  if (const auto session = sessions_.find(ended.connection); session != sessions_.end()) {
    --session->second.remoteTransfers;
  }
  return ended;
}

void ClientSessions::pull(ConnectionId id, Session& session, const WriteRequest& request, uint32_t slot) {
  RemoteTransfer transfer{id, request.requestId, *session.remote, request.payloadLength, {}, request.payloadCrc, 0};
  transfer.write = Write{slot, request.requestId, request.authority};
  const uint64_t number = beginTransfer(session, transfer);
  context_.outbox.add(PullPayload{id, number, request.stagingOffset, context_.directory.slot(slot).payloadOffset(),
                                  request.payloadLength});
}

void ClientSessions::pulled(uint64_t transfer, bool good, uint32_t computed) {
  const std::optional<RemoteTransfer> ended = endTransfer(transfer);
  if (!ended) throw std::logic_error("pulled a payload that was not asked for");
  if (!sessions_.contains(ended->connection)) {
    ++context_.stats.writeFailures;
    context_.directory.abort(ended->write->slot);  // only now: the bytes could still change
    return;
  }
  if (good) statsOf(ended->protocol).writeBytes += ended->length;
  finishWrite(ended->connection, *ended->write, good ? KV_OK : KV_TRANSFER_FAILED, computed, ended->crc);
}

void ClientSessions::push(ConnectionId id, Session& session, const Read& read, const store::Slot& slot) {
  const uint64_t number =
      beginTransfer(session, {id, read.request.requestId, *session.remote, slot.payloadLength, {}, 0, slot.generation});
  context_.directory.pin(slot.generation);
  context_.outbox.add(PushPayload{id, number, *read.stagingOffset, slot.payloadOffset(), slot.payloadLength});
}

void ClientSessions::pushed(uint64_t transfer, bool good) {
  const std::optional<RemoteTransfer> ended = endTransfer(transfer);
  if (!ended) throw std::logic_error("pushed a payload that was not asked for");
  if (ended->generation != 0) context_.directory.unpin(ended->generation);
  if (!sessions_.contains(ended->connection)) return;
  if (!good) return refuseRead(ended->connection, ended->requestId, KV_TRANSFER_FAILED);
  statsOf(ended->protocol).readBytes += ended->length;
  context_.outbox.frames(ended->connection, wire::framed(appendReadReply, ended->requestId, KV_OK, ended->length));
}

}  // namespace kvpool::node
