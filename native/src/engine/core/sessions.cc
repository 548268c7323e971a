// SPDX-License-Identifier: Apache-2.0
#include "engine/core/sessions.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "dev_kvpool_wire/EngineDescribe.h"
#include "dev_kvpool_wire/EngineMayRead.h"
#include "dev_kvpool_wire/EngineNeighbor.h"
#include "dev_kvpool_wire/EngineNotify.h"
#include "dev_kvpool_wire/EnginePull.h"
#include "dev_kvpool_wire/EngineRead.h"
#include "dev_kvpool_wire/EngineWrite.h"
#include "dev_kvpool_wire/Hello.h"
#include "engine/core/membership.h"
#include "engine/core/messages.h"
#include "wire/frame.h"

namespace kvpool::engine {

namespace sbe = wire::sbe;

bool Sessions::Use::touches(const std::vector<uint64_t>& gone) const {
  return std::any_of(regions.begin(), regions.end(),
                     [&](uint64_t region) { return std::find(gone.begin(), gone.end(), region) != gone.end(); });
}

void Sessions::accepted(Time now, ConnectionId id, const std::string& peer, std::optional<Principal> who,
                        const std::optional<Introduction>& ours) {
  Session& session = sessions_[id];
  session.peer = peer;
  session.who = std::move(who);
  session.since = now;
  if (ours) session.neighbor.emplace(context_.config.process, *ours);
  if (const Status fits = judge(session); !fits.ok()) {
    return refuse(id, {wire::Refusal::IdentityMismatch, wire::kWireVersions, fits.text()});
  }
  if (sessions_.size() <= kSessionsMax) return;
  refuse(id, {wire::Refusal::Limit, wire::kWireVersions,
              std::to_string(kSessionsMax) + " transfer engines are connected here, the most there may be"});
}

Status Sessions::judge(const Session& session) const {
  return judgeMembers(context_.ourselves(), session.who ? &*session.who : nullptr);
}

void Sessions::identified() {
  std::vector<std::pair<ConnectionId, std::string>> strangers;
  for (const auto& [id, session] : sessions_) {
    if (const Status fits = judge(session); !fits.ok()) strangers.emplace_back(id, session.peer + ": " + fits.text());
  }
  for (const auto& [id, why] : strangers)
    end(id, why, false);
}

void Sessions::frame(Time now, ConnectionId id, wire::Body body) {
  Session& session = sessions_.at(id);
  session.since = now;
  if (!session.mustTake()) session.tookAt = now;
  if (!session.welcomed) return greet(id, session, body);
  serve(id, session, body);
  keepToUnsentMax();
}

void Sessions::serve(ConnectionId id, Session& session, wire::Body body) {
  switch (wire::templateOf(body)) {
    case sbe::EngineDescribe::sbeTemplateId():
      return send(id, session, regionsFrame(readDescribe(body), context_.regions.all(), context_.config.ascend));
    case sbe::EngineWrite::sbeTemplateId():
      return write(id, session, readWrite(body));
    case sbe::EngineRead::sbeTemplateId():
      return read(id, session, readRead(body));
    case sbe::EnginePull::sbeTemplateId():
      return pull(id, session, readPull(body));
    case sbe::EngineMayRead::sbeTemplateId():
      return mayRead(id, session, readMayRead(body));
    case sbe::EngineNeighbor::sbeTemplateId():
      return introduce(id, session, readNeighbor(body));
    case sbe::EngineNotify::sbeTemplateId():
      return notify(id, session, readNotify(body));
    default:
      throw wire::Malformed("a message that no transfer engine sends");
  }
}

void Sessions::greet(ConnectionId id, Session& session, wire::Body body) {
  if (wire::templateOf(body) != sbe::Hello::sbeTemplateId()) throw wire::Malformed("the first frame is no Hello");
  const auto answer = wire::judgeHello(wire::readHello(body), context_.config.me, {wire::Role::Engine, true, false});
  if (const auto* refused = std::get_if<wire::Refused>(&answer)) return refuse(id, *refused);
  session.welcomed = true;
  context_.act(Welcomed{id});
  send(id, session, wire::framed(wire::appendWelcome, std::get<wire::Welcome>(answer)));
}

void Sessions::send(ConnectionId id, Session& session, wire::Bytes frame) {
  setUnsent(session, session.unsent + wire::queuedBytes(frame.size()));
  context_.act(SendFrame{id, std::move(frame)});
}

void Sessions::setUnsent(Session& session, uint64_t bytes) {
  unsent_ = unsent_ - session.unsent + bytes;
  session.unsent = bytes;
}

/// The bound of one connection alone would be 64 GiB for all that there may be.
void Sessions::keepToUnsentMax() {
  while (unsent_ > kUnsentFramesMax) {
    const auto most = std::ranges::max_element(
        sessions_, [](const auto& one, const auto& other) { return one.second.unsent < other.second.unsent; });
    end(most->first,
        most->second.peer + " lets more answers wait than any other, and all of them together fill the " +
            std::to_string(kUnsentFramesMax) + " bytes that there are for them",
        false);
  }
}

/// The memory of the pieces, if each lies in the region it names.
Status Sessions::resolve(const Session& session, const PiecesRequest& request, Use& use) {
  for (const RemotePiece& piece : request.pieces) {
    if (!context_.regions.covers(piece.region, piece.address, piece.length)) {
      ++context_.counters.refusedRequests;
      context_.act(Note{LogLevel::Info, session.peer + " asked for memory that is not registered"});
      return {KV_NOT_REGISTERED, "no registered region " + std::to_string(piece.region) + " holds the " +
                                     std::to_string(piece.length) + " bytes at 0x" + hex16(piece.address)};
    }
    if (context_.regions.isOfDevice(piece.address, piece.length)) {
      ++context_.counters.refusedRequests;
      return {KV_INVALID_ARGUMENT,
              "the " + std::to_string(piece.length) + " bytes at 0x" + hex16(piece.address) + kOfDevice};
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number of the peer, inside of a region by now
    use.memory.push_back({reinterpret_cast<void*>(static_cast<uintptr_t>(piece.address)), piece.length});
    if (use.regions.empty() || use.regions.back() != piece.region) use.regions.push_back(piece.region);
  }
  return {};
}

Status Sessions::mayWrite(const Session& session) {
  Status may = judgeWriter(session.who ? &*session.who : nullptr);
  if (!may.ok()) ++context_.counters.refusedRequests;
  return may;
}

void Sessions::write(ConnectionId id, Session& session, const PiecesRequest& request) {
  session.write = Write{};
  Write& write = *session.write;
  write.request = request.id;
  write.bytes = request.bytes;
  write.refusal = mayWrite(session);
  if (write.refusal.ok()) write.refusal = resolve(session, request, write.use);
  std::optional<Pieces> destination;
  if (write.refusal.ok()) destination.emplace(write.use.memory);
  context_.act(ReceivePayload{id, destination, request.bytes});
}

void Sessions::payloadReceived(Time now, ConnectionId id, uint32_t computedCrc, uint32_t sentCrc) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !found->second.write) return;
  Session& session = found->second;
  const Write write = std::move(*session.write);
  session.write.reset();
  if (!session.mustTake()) session.tookAt = now;
  Status status = write.refusal;
  if (status.ok() && computedCrc != sentCrc) {
    ++context_.counters.checksumFailures;
    status = {KV_CHECKSUM, "bytes changed on their way"};
  }
  if (status.ok()) {
    ++context_.counters.servedWrites;
    context_.counters.servedWriteBytes += write.bytes;
  }
  reply(id, session, write.request, status, 0);
  keepToUnsentMax();
}

void Sessions::read(ConnectionId id, Session& session, const PiecesRequest& request) {
  Use use;
  const Status status = resolve(session, request, use);
  if (!status.ok()) return reply(id, session, request.id, status, 0);
  const PayloadId payload = context_.newRequest();
  const Use& kept = session.reads.emplace(payload, std::move(use)).first->second;
  ++context_.counters.servedReads;
  context_.counters.servedReadBytes += request.bytes;
  reply(id, session, request.id, status, request.bytes);
  context_.act(SendPayload{id, payload, Pieces(kept.memory), request.bytes});
}

void Sessions::introduce(ConnectionId id, Session& session, const NeighborClaim& claim) {
  if (!session.neighbor) return send(id, session, neighborFrame({}));  // takes no part
  Neighbor& neighbor = *session.neighbor;
  if (neighbor.heard()) throw wire::Malformed("a second introduction");
  const std::optional<Status> met = neighbor.meet(claim);
  // Which process this is concerns those of this machine only.
  send(id, session, neighborFrame(met ? neighbor.claim() : NeighborClaim{}));
  if (!met) return;
  if (!met->ok()) return context_.refusedSameMachine(session.peer, met->text());
  context_.act(Meet{id, claim, neighbor.challenge()});
}

/// A write whose bytes we copy ourselves.
void Sessions::pull(ConnectionId id, Session& session, PullRequest request) {
  if (session.pulls.size() >= kRequestsInFlight) throw wire::Malformed("more requests than one may have under way");
  Write pull;
  pull.request = request.to.id;
  pull.bytes = request.to.bytes;
  Status may = mayWrite(session);
  if (may.ok()) may = resolve(session, request.to, pull.use);
  if (may.ok() && !(session.neighbor && session.neighbor->met()))
    may = {KV_UNAVAILABLE, "its memory cannot be read from here"};
  if (!may.ok()) return reply(id, session, pull.request, may, 0);
  const PayloadId number = context_.newRequest();
  context_.act(Pull{id, number, pull.use.memory, std::move(request.sources), 0});
  session.pulls.emplace(number, std::move(pull));
}

void Sessions::pulled(Time now, ConnectionId id, PayloadId pull, const Pulled& end) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  const auto ended = session.pulls.extract(pull);
  if (!ended) return;
  session.since = now;
  if (!session.mustTake()) session.tookAt = now;
  const Write& write = ended.mapped();
  Status status;
  switch (end.how) {
    case Pulled::How::Done:
      ++context_.counters.servedWrites;
      context_.counters.servedWriteBytes += write.bytes;
      break;
    case Pulled::How::Withdrawn:
    case Pulled::How::Gone:
      status = {KV_UNAVAILABLE, "its memory is not offered any more"};
      break;
    case Pulled::How::Refused:
      context_.refusedSameMachine(session.peer, end.why);
      status = {KV_UNAVAILABLE, end.why};
      break;
  }
  reply(id, session, write.request, status, 0);
  keepToUnsentMax();
}

/// A read of which the peer does the copying. What it copies counts only if nothing was unregistered meanwhile, which
/// our proof tells it.
void Sessions::mayRead(ConnectionId id, Session& session, const PiecesRequest& request) {
  Use use;
  Status status = resolve(session, request, use);
  if (status.ok() && !(session.neighbor && session.neighbor->met()))
    status = {KV_UNAVAILABLE, "this memory cannot be read from there"};
  if (status.ok()) {
    ++context_.counters.servedReads;
    context_.counters.servedReadBytes += request.bytes;
  }
  const uint64_t withdrawn = status.ok() ? session.neighbor->withdrawn() : 0;
  send(id, session, replyFrame({request.id, status.code(), 0, status.text(), withdrawn}));
}

void Sessions::notify(ConnectionId id, Session& session, NotifyRequest request) {
  if (context_.notifications.size() >= KV_ENGINE_NOTIFIES_MAX) {
    return reply(id, session, request.id,
                 {KV_QUEUE_FULL, std::to_string(KV_ENGINE_NOTIFIES_MAX) + " notifications wait for the application"},
                 0);
  }
  ++context_.counters.notifiesReceived;
  context_.notifications.push_back(std::move(request.notification));
  reply(id, session, request.id, {}, 0);
}

void Sessions::reply(ConnectionId id, Session& session, uint64_t request, const Status& status,
                     uint64_t payloadLength) {
  send(id, session, replyFrame({request, status.code(), static_cast<uint32_t>(payloadLength), status.text()}));
}

void Sessions::payloadSent(ConnectionId id, PayloadId payload) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) found->second.reads.erase(payload);
}

void Sessions::received(Time now, ConnectionId id) {
  if (const auto found = sessions_.find(id); found != sessions_.end()) found->second.since = now;
}

void Sessions::sent(Time now, ConnectionId id, uint64_t unsentFrames) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  found->second.since = found->second.tookAt = now;
  setUnsent(found->second, unsentFrames);
}

void Sessions::closed(ConnectionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  setUnsent(found->second, 0);
  sessions_.erase(found);
}

void Sessions::malformed(ConnectionId id, const std::string& what) {
  ++context_.counters.protocolErrors;
  const Session& session = sessions_.at(id);
  const std::string reason = session.peer + " sent malformed bytes: " + what;
  if (!session.welcomed) return refuse(id, {wire::Refusal::Protocol, wire::kWireVersions, what});
  end(id, reason, false);
}

void Sessions::refuse(ConnectionId id, const wire::Refused& refused) {
  context_.act(SendFrame{id, wire::framed(wire::appendRefused, refused)});
  const std::string peer = sessions_.at(id).peer;
  context_.act(PeerRefused{peer, refused.message});
  end(id, peer + " is refused", true);
}

void Sessions::end(ConnectionId id, const std::string& reason, bool afterOutput) {
  context_.act(Close{id, reason, afterOutput});
  closed(id);
}

void Sessions::regionsGone(const std::vector<uint64_t>& regions) {
  std::vector<ConnectionId> cut;
  for (auto& entry : sessions_) {
    const ConnectionId id = entry.first;
    auto& session = entry.second;
    if (session.write && session.write->use.touches(regions)) {
      context_.act(DropPayload{id});
      session.write->refusal = {KV_NOT_REGISTERED, "the region was unregistered meanwhile"};
    }
    if (session.neighbor) session.neighbor->withdraw();
    std::erase_if(session.pulls, [&](const auto& pull) {
      if (!pull.second.use.touches(regions)) return false;
      context_.act(DropPull{id, pull.first});
      reply(id, session, pull.second.request, {KV_NOT_REGISTERED, "the region was unregistered meanwhile"}, 0);
      return true;
    });
    const auto touched = [&](const auto& read) { return read.second.touches(regions); };
    // What was announced must be sent, and it cannot be any more.
    if (std::any_of(session.reads.begin(), session.reads.end(), touched)) cut.push_back(id);
  }
  for (const ConnectionId id : cut)
    end(id, "memory that was being read was unregistered", false);
}

void Sessions::tick(Time now) {
  std::vector<std::pair<ConnectionId, std::string>> late;
  for (const auto& [id, session] : sessions_) {
    const int64_t quiet = now - session.since;
    if (!session.welcomed && quiet > static_cast<int64_t>(wire::kHelloTimeoutMs)) {
      late.emplace_back(id, " sent no Hello");
    } else if (session.write && quiet > context_.config.transferTimeoutMs) {
      late.emplace_back(id, " made no progress for " + std::to_string(context_.config.transferTimeoutMs) + " ms");
    } else if (session.mustTake() && now - session.tookAt > context_.config.transferTimeoutMs) {
      late.emplace_back(
          id, " took nothing of what it asked for in " + std::to_string(context_.config.transferTimeoutMs) + " ms");
    } else if (quiet > 2 * context_.config.idleTimeoutMs) {  // the side that dialled ends idle connections first
      late.emplace_back(id, " was idle");
    }
  }
  for (const auto& [id, why] : late)
    end(id, sessions_.at(id).peer + why, false);
}

}  // namespace kvpool::engine
