// SPDX-License-Identifier: Apache-2.0
#include "node/core/master_links.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dev_kvpool_wire/Fence.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/LeaderLeaves.h"
#include "dev_kvpool_wire/Refused.h"
#include "node/core/payload_check.h"

namespace kvpool::node {

namespace sbe = wire::sbe;

MasterLinks::MasterLinks(CoreContext& context, MasterCommands& commands)
    : context_(context),
      commands_(commands),
      links_(context.config.masters),
      watch_(context.config.masters),
      randomState_(context.config.randomSeed) {}

uint32_t MasterLinks::connected() const {
  return static_cast<uint32_t>(
      std::count_if(links_.begin(), links_.end(), [](const Link& link) { return link.state == State::Streaming; }));
}

const MasterLinks::Link* MasterLinks::find(ConnectionId id) const {
  for (const Link& link : links_) {
    const bool open = link.state == State::Greeting || link.state == State::Streaming || link.state == State::Closing;
    if (open && link.connection == id) return &link;
  }
  return nullptr;
}

MasterLinks::Link& MasterLinks::at(ConnectionId id) {
  for (Link& link : links_) {
    if (find(id) == &link) return link;
  }
  throw std::logic_error("connection of no master");
}

void MasterLinks::dialled(uint64_t nowMs, ConnectionId id, size_t master, const std::string& peer) {
  Link& link = links_.at(master);
  link.state = State::Greeting;
  link.connection = id;
  link.known = true;
  link.peer = peer;
  link.heardAtMs = nowMs;
  link.unsentBytes = 0;
  if (leaving_) return closeToLeave(link);
  send(link, wire::framed(wire::appendHello, {context_.config.self, 0, wire::kMagic}));
}

void MasterLinks::frame(uint64_t nowMs, ConnectionId id, wire::Body body) {
  Link& link = at(id);
  if (link.state == State::Closing) return;
  link.heardAtMs = nowMs;
  if (link.state == State::Greeting) return greet(link, body);
  const uint16_t type = wire::templateOf(body);
  if (type == sbe::Heartbeat::SBE_TEMPLATE_ID) {
    const wire::Heartbeat heartbeat = wire::readHeartbeat(body);
    context_.fencing.endGrantsBelow(heartbeat.oldestGrant);
    return answerHeartbeat(nowMs, link, heartbeat.beat);
  }
  if (type == sbe::LeaderLeaves::SBE_TEMPLATE_ID) return leaderLeaves(link, readLeaderLeaves(body));
  if (!commands_.frame(nowMs, id, type, body)) {
    throw wire::Malformed("message " + std::to_string(type) + " is not for a node");
  }
  if (type == sbe::Fence::SBE_TEMPLATE_ID) watchHolder(link, readFence(body).authority);
  sendChanges();
}

/// A leader learns that it is heard. Another master learns instead for how long nothing came from the leader: as an
/// answer, so that it knows how old that is.
void MasterLinks::answerHeartbeat(uint64_t nowMs, Link& link, uint64_t beat) {
  if (beat == 0) return;
  const auto leader = watch_.leader(context_.fencing.seen());
  const uint64_t silentMs = leader ? nowMs - links_[*leader].heardAtMs : 0;
  wire::Bytes out;
  if (silentMs < kSuspectMs || *leader == numberOf(link)) {
    wire::appendHeartbeat(out, {beat, {}});
  } else {
    appendLeaderGone(out, {context_.fencing.seen(), Departure::Silent, addressOf(*leader),
                           static_cast<uint32_t>(std::min<uint64_t>(silentMs, UINT32_MAX)), beat});
  }
  send(link, std::move(out));
}

/// Who was obeyed over this connection is missed when it ends.
void MasterLinks::watchHolder(const Link& link, const Authority& fenced) {
  if (fenced.epoch != 0 && fenced == context_.fencing.seen()) watch_.fenced(numberOf(link), fenced);
}

void MasterLinks::greet(Link& link, wire::Body body) {
  if (wire::templateOf(body) == sbe::Refused::sbeTemplateId()) {
    // Whatever the reason, asking again soon does not help.
    link.redialMs = kRedialMsMax;
    return close(link, wire::refusalStatus(wire::readRefused(body), link.peer).text());
  }
  const wire::Welcome welcome = wire::readWelcome(body);
  const Status fits = wire::judgeWelcome(welcome, wire::Role::Master, {context_.config.self, 0, wire::kMagic});
  if (!fits.ok()) {
    link.redialMs = kRedialMsMax;
    return close(link, fits.text());
  }
  context_.config.self.poolId = welcome.self.poolId;
  context_.outbox.note(LogLevel::Info, "connected to master " + welcome.self.name + " at " + link.peer);
  link.redialMs = kRedialMsMin;
  link.lastProblem.clear();
  if (watch_.welcomed(numberOf(link), welcome.self.incarnation)) tellLeaderGone();
  beginStream(link);
}

void MasterLinks::beginStream(Link& link) {
  // Changes made so far belong to the others' streams; here they are part of the snapshot.
  sendChanges();
  link.state = State::Streaming;
  link.snapshot = {};
  link.statsAtMs = 0;
  const store::Recovery& recovery = context_.directory.recovery();
  NodeInfo info;
  info.seen = context_.fencing.seen();
  info.purgeId = context_.fencing.purged();
  info.objectLeaseMaxMs = context_.state.get().objectLeaseMaxMs;
  info.highestObject = context_.directory.highestObject();
  info.isTransient = context_.config.isTransient;
  info.capacityBytes = context_.directory.geometry().dataBytes;
  info.slots = context_.directory.geometry().slots;
  info.restored = recovery.restored;
  info.restoredHash = recovery.restoredHash;
  info.dropped = recovery.dropped();
  info.memory = context_.state.get().memory;
  info.active = context_.state.active();
  info.tier = context_.tierNumber;
  if (const ssd::Table* tier = context_.table; tier != nullptr && context_.tierProblem.empty()) {
    info.highestObject = std::max(info.highestObject, tier->highestObject());
    info.tierBytes = tier->geometry().dataBytes;
    info.tierSlots = tier->geometry().slots;
  }
  info.tcp = context_.config.tcp;
  info.shm = context_.config.shm;
  info.zone = context_.config.zone;
  wire::Bytes out;
  appendNodeInfo(out, info);
  appendSnapshotBegin(out, context_.stream.sequence());
  send(link, std::move(out));
  const auto verdict = watch_.verdict(context_.fencing.seen());
  if (verdict) tellLeaderGone(link, *verdict);
}

void MasterLinks::malformed(ConnectionId id, const std::string& what) {
  Link& link = at(id);
  if (link.state == State::Closing) return;
  ++context_.stats.protocolErrors;
  close(link, what);
}

void MasterLinks::sent(ConnectionId id, uint64_t bytes) {
  Link& link = at(id);
  link.unsentBytes -= std::min(bytes, link.unsentBytes);
}

void MasterLinks::closed(uint64_t nowMs, ConnectionId id) {
  Link& link = at(id);
  const bool byPeer = link.state != State::Closing;
  commands_.masterClosed(id);
  redialLater(nowMs, link, "connection closed");
  if (watch_.lost(numberOf(link), byPeer, context_.fencing.seen())) dial(link);
}

void MasterLinks::leaderLeaves(const Link& link, const Authority& authority) {
  if (watch_.leaves(numberOf(link), authority, context_.fencing.seen())) tellLeaderGone();
}

/// Tells every master that streams; one that streams later hears it then.
void MasterLinks::tellLeaderGone() {
  const auto verdict = watch_.verdict(context_.fencing.seen());
  if (!verdict) return;
  for (Link& link : links_) {
    if (link.state == State::Streaming) tellLeaderGone(link, *verdict);
  }
}

std::string_view MasterLinks::addressOf(size_t master) const {
  const std::vector<std::string>& addresses = context_.config.masterAddresses;
  return master < addresses.size() ? std::string_view(addresses[master]) : "";
}

void MasterLinks::tellLeaderGone(Link& link, const LeaderWatch::Verdict& verdict) {
  // A leader that leaves knows; behind the address of one that crashed there is another process now.
  if (verdict.departure == Departure::Left && verdict.master == numberOf(link)) return;
  send(link, wire::framed(appendLeaderGone, {verdict.authority, verdict.departure, addressOf(verdict.master)}));
}

void MasterLinks::tick(uint64_t nowMs) {
  if (leaving_) return;
  for (Link& link : links_) {
    switch (link.state) {
      case State::Waiting:
        if (nowMs >= link.dialAtMs) dial(link);
        break;
      case State::Greeting:
      case State::Streaming:
        if (nowMs - link.heardAtMs > wire::kSilenceMsMax) {
          close(link, "silent for " + std::to_string(wire::kSilenceMsMax) + " ms");
        } else if (link.state == State::Streaming && nowMs >= link.statsAtMs) {
          link.statsAtMs = nowMs + wire::kHeartbeatMs;
          sendStats(link);
        }
        break;
      case State::Dialing:
      case State::Closing:
        break;
    }
  }
}

void MasterLinks::leave() {
  sendChanges();
  leaving_ = true;
  for (Link& link : links_) {
    if (link.state == State::Streaming) {
      send(link, wire::framed(appendNodeLeaves));
    }
    if (link.state == State::Streaming || link.state == State::Greeting) closeToLeave(link);
  }
}

void MasterLinks::closeToLeave(Link& link) {
  link.state = State::Closing;
  context_.outbox.add(Close{link.connection, "this node leaves", LogLevel::Debug});
}

bool MasterLinks::closedAll() const {
  return std::all_of(links_.begin(), links_.end(), [](const Link& link) { return link.connection == 0; });
}

void MasterLinks::sendStats(Link& link) {
  const store::Directory& directory = context_.directory;
  NodeStatsMessage stats;
  // Changes not handed out yet are in these numbers too.
  stats.sequence = context_.stream.sequence();
  stats.usedBytes = directory.usedBytes();
  stats.largestFreeBytes = directory.largestFreeBytes();
  stats.slotsUsed = directory.slotsUsed();
  stats.objects = directory.objects();
  stats.drainingBytes = directory.quarantinedBytes();
  stats.idsHash = directory.idsHash();
  stats.damaged = context_.stats.damaged;
  stats.scrubRounds = context_.stats.scrubRounds;
  stats.active = context_.state.active();
  if (context_.table != nullptr && context_.tierProblem.empty()) {
    stats.tierUsedBytes = context_.table->usedBytes();
    stats.tierObjects = context_.table->objects();
  }
  stats.tierProblem = context_.tierProblem;
  send(link, wire::framed(appendNodeStats, stats));
}

/// Before the records and answers that come of it: what a master acknowledges by these, it does not when it knows.
void MasterLinks::tellTierProblem() {
  if (toldTierProblem_ == context_.tierProblem) return;
  toldTierProblem_ = context_.tierProblem;
  for (Link& link : links_) {
    if (link.state == State::Streaming) sendStats(link);
  }
}

void MasterLinks::sendChanges() {
  tellTierProblem();
  if (const Frames frames = context_.stream.takeChanges()) {
    for (Link& link : links_) {
      if (link.state == State::Streaming) send(link, frames);
    }
  }
  for (Answer& answer : std::exchange(context_.answers, {})) {
    if (find(answer.master) == nullptr) continue;
    Link& link = at(answer.master);
    if (link.state == State::Streaming) send(link, std::move(answer.frames));
  }
}

uint64_t MasterLinks::mostUnsentBytes() const {
  uint64_t most = 0;
  for (const Link& link : links_) {
    if (link.state == State::Streaming) most = std::max(most, link.unsentBytes);
  }
  return most;
}

void MasterLinks::continueSnapshots() {
  for (Link& link : links_) {
    if (link.state != State::Streaming) continue;
    for (int look = 0; look < kSnapshotLooks && !link.snapshot.done && link.unsentBytes < kSnapshotUnsentBytes;
         ++look) {
      continueSnapshot(link);
    }
  }
  // Behind every end of a snapshot: that names the newest change, and these ones are sent in the next turn.
  for (const uint32_t slot : std::exchange(damaged_, {}))
    dropDamaged(context_, slot, "a snapshot of the directory");
}

void MasterLinks::continueSnapshot(Link& link) {
  Frames piece = context_.stream.nextPiece(link.snapshot);
  if (piece != nullptr) send(link, std::move(piece));
  for (const uint32_t slot : std::exchange(link.snapshot.damaged, {}))
    damaged_.insert(slot);
  if (!link.snapshot.done) return;
  send(link, wire::framed(appendSnapshotEnd, link.snapshot.count, context_.stream.sequence()));
}

void MasterLinks::send(Link& link, Frames frames) {
  if (link.state == State::Closing) return;
  if (link.unsentBytes + frames->size() > kUnsentBytesMax) {
    return close(link, "does not read: " + std::to_string(kUnsentBytesMax >> 20) + " MiB are unsent, the most allowed");
  }
  link.unsentBytes += frames->size();
  context_.outbox.add(SendFrames{link.connection, std::move(frames)});
}

void MasterLinks::close(Link& link, const std::string& reason) {
  link.state = State::Closing;
  if (reason != link.lastProblem) context_.outbox.note(LogLevel::Warning, "master " + link.peer + ": " + reason);
  link.lastProblem = reason;
  context_.outbox.add(Close{link.connection, reason});
}

// ---- dials ----

void MasterLinks::dial(Link& link) {
  link.state = State::Dialing;
  context_.outbox.add(Dial{numberOf(link)});
}

void MasterLinks::dialFailed(uint64_t nowMs, size_t master, bool refused, const std::string& why) {
  Link& link = links_.at(master);
  link.known = true;
  redialLater(nowMs, link, why);
  if (watch_.dialFailed(master, refused)) tellLeaderGone();
}

/// As when a connection ends: a process that dies takes connections up to its last moment.
void MasterLinks::dialDropped(uint64_t nowMs, size_t master, const std::string& why) {
  Link& link = links_.at(master);
  link.known = true;
  redialLater(nowMs, link, why);
  if (watch_.lost(master, true, context_.fencing.seen())) dial(link);
}

void MasterLinks::nameUnknown(uint64_t nowMs, size_t master, const std::string& why) {
  Link& link = links_.at(master);
  const bool rarely = !link.known && connected() > 0;
  redialLater(nowMs, link, why, rarely ? kUnknownRedialMsMax : kRedialMsMax);
  if (watch_.dialFailed(master, false)) tellLeaderGone();
}

/// Waits a little longer after each failure, with jitter so that many nodes do not dial a restarted master at once.
void MasterLinks::redialLater(uint64_t nowMs, Link& link, const std::string& problem, uint64_t longestMs) {
  if (link.state != State::Closing && problem != link.lastProblem) {
    // Masters that were never there are no trouble by themselves.
    context_.outbox.note(link.known ? LogLevel::Warning : LogLevel::Info, "master " + link.peer + ": " + problem);
    link.lastProblem = problem;
  }
  link.state = State::Waiting;
  link.connection = 0;
  link.dialAtMs = nowMs + link.redialMs / 2 + random() % (link.redialMs / 2 + 1);
  link.redialMs = std::min(link.redialMs * 2, longestMs);
  if (connected() == 0) hurry(nowMs);
}

/// The next leader may be one that was not there when it was last asked for.
void MasterLinks::hurry(uint64_t nowMs) {
  for (Link& link : links_) {
    link.redialMs = std::min(link.redialMs, kRedialMsMax);
    if (link.state == State::Waiting) link.dialAtMs = std::min(link.dialAtMs, nowMs + kRedialMsMax);
  }
}

/// splitmix64: good enough to spread dials, and the same in every run of a simulation.
uint64_t MasterLinks::random() {
  uint64_t z = (randomState_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace kvpool::node
