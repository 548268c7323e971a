// SPDX-License-Identifier: Apache-2.0
#include "node/core/node_core.h"

#include <optional>
#include <utility>
#include <vector>

namespace kvpool::node {

namespace {

constexpr uint64_t kSliceUnsentBytes = uint64_t{4} << 20;

}  // namespace

NodeCore::NodeCore(CoreConfig config, store::Directory& directory, store::StatePages& state, ssd::Table* tier)
    : context_(std::move(config), directory, state, tier),
      copies_(context_),
      tier_(context_),
      commands_(context_, copies_, tier_),
      masters_(context_, commands_),
      clients_(context_, tier_),
      scrub_(context_) {
  state.update([&](store::SegmentState& pages) {
    pages.incarnation = context_.config.self.incarnation;
    if (pages.memory == 0) pages.memory = pages.incarnation;
    pages.tier = tier_.on() ? tier->number() : 0;
  });
  if (isEmpty()) {
    state.sayEmptied();
  } else if (Status inUse = state.takeBackEmptied(); !inUse.ok()) {
    context_.outbox.note(LogLevel::Error, inUse.text());  // tried again before the next object comes
  }
}

bool NodeCore::isEmpty() const {
  return context_.directory.objects() == 0 && (!tier_.on() || context_.table->objects() == 0);
}

void NodeCore::accepted(uint64_t nowMs, ConnectionId id, bool local, const std::string& peer,
                        const std::optional<Principal>& who) {
  clients_.accepted(nowMs, id, local, peer, who);
}

void NodeCore::dialled(uint64_t nowMs, ConnectionId id, size_t master, const std::string& peer) {
  masters_.dialled(nowMs, id, master, peer);
}

void NodeCore::dialFailed(uint64_t nowMs, size_t master, bool refused, const std::string& why) {
  masters_.dialFailed(nowMs, master, refused, why);
}

void NodeCore::dialDropped(uint64_t nowMs, size_t master, const std::string& why) {
  masters_.dialDropped(nowMs, master, why);
}

void NodeCore::sourceDialled(uint64_t nowMs, ConnectionId id, uint64_t source, const std::string& peer) {
  copies_.dialled(nowMs, id, source, peer);
}

void NodeCore::frame(uint64_t nowMs, ConnectionId id, wire::Body body) {
  try {
    if (clients_.owns(id)) {
      clients_.frame(nowMs, id, body);
    } else if (masters_.owns(id)) {
      masters_.frame(nowMs, id, body);
    } else if (copies_.owns(id)) {
      copies_.frame(nowMs, id, body);
    }
  } catch (const wire::Malformed& problem) {
    malformed(id, problem.what());
  }
}

void NodeCore::malformed(ConnectionId id, const std::string& what) {
  if (clients_.owns(id)) {
    clients_.malformed(id, what);
  } else if (masters_.owns(id)) {
    masters_.malformed(id, what);
  } else if (copies_.owns(id)) {
    copies_.malformed(id, what);
  }
}

void NodeCore::payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent) {
  if (copies_.owns(id)) {
    copies_.payloadReceived(id, computed, sent);
  } else {
    clients_.payloadReceived(id, computed, sent);
  }
}

void NodeCore::tierWritten(uint64_t op, const Status& outcome) {
  tier_.payloadWritten(op, outcome);
  tellReadersOfEnd();
}

void NodeCore::tierStored(const Status& outcome) {
  tier_.stored(outcome);
  tellReadersOfEnd();
}

void NodeCore::tierRead(uint64_t op, const Status& outcome) {
  clients_.tierRead(op, tier_.payloadRead(op, outcome));
  tellReadersOfEnd();
}

void NodeCore::tellReadersOfEnd() {
  if (const std::optional<std::vector<uint64_t>> ended = tier_.takeEnded()) clients_.tierEnded(*ended);
}

void NodeCore::closed(uint64_t nowMs, ConnectionId id) {
  if (clients_.owns(id)) {
    clients_.closed(id);
  } else if (masters_.owns(id)) {
    masters_.closed(nowMs, id);
  } else if (copies_.owns(id)) {
    copies_.closed(id);
  }
}

void NodeCore::renew(ConnectionId id) {
  if (copies_.owns(id)) copies_.renew(id);
}

void NodeCore::tick(uint64_t nowMs) {
  clients_.tick(nowMs);
  masters_.tick(nowMs);
  copies_.tick(nowMs);
  scrub_.tick(nowMs);
  tier_.tick(nowMs);
  tellReadersOfEnd();
}

void NodeCore::endTurn() {
  if (sweepMayGoOn()) commands_.continueWork();
  if (clients_.checking()) clients_.continueChecks();
  masters_.sendChanges();
  masters_.continueSnapshots();
  if (tierMayGoOn()) tier_.continueWork();
}

/// Slices make records, so they wait for masters that have not taken the earlier ones. One that never does is closed by
/// the shell when its connection makes no progress.
bool NodeCore::sweepMayGoOn() const {
  return commands_.busy() && masters_.mostUnsentBytes() < kSliceUnsentBytes;
}

bool NodeCore::tierMayGoOn() const {
  return tier_.busy() && masters_.mostUnsentBytes() < kSliceUnsentBytes;
}

CoreSnapshot NodeCore::snapshot() const {
  const ssd::Table* const table = context_.table;
  const bool tiered = table != nullptr && tier_.on();
  return {context_.stats,
          context_.directory.usedBytes(),
          context_.directory.objects(),
          context_.directory.tombstones(),
          context_.directory.idsHash(),
          context_.fencing.seen(),
          context_.fencing.fenced(),
          masters_.connected(),
          static_cast<uint32_t>(clients_.count()),
          static_cast<uint32_t>(copies_.running()),
          table == nullptr ? 0 : table->geometry().dataBytes,
          tiered ? table->usedBytes() : 0,
          tiered ? table->objects() : 0,
          context_.tierProblem};
}

}  // namespace kvpool::node
