// SPDX-License-Identifier: Apache-2.0
#include "node/core/master_commands.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dev_kvpool_wire/Activate.h"
#include "dev_kvpool_wire/Copy.h"
#include "dev_kvpool_wire/Fence.h"
#include "dev_kvpool_wire/Free.h"
#include "dev_kvpool_wire/KeepTombstones.h"
#include "dev_kvpool_wire/Purge.h"
#include "kvpool/kvpool.h"

namespace kvpool::node {

namespace sbe = wire::sbe;

namespace {

/// No leader that is obeyed names an id of an epoch after its own: what was stored of one would outlive every leader to
/// come.
void requireNamed(const Authority& authority, const ObjectId& id, const char* what) {
  if (id.epoch <= authority.epoch) return;
  throw wire::Malformed(std::string(what) + " " + toString(id) + " from a leader of " + toString(authority));
}

}  // namespace

bool MasterCommands::frame(uint64_t nowMs, ConnectionId master, uint16_t type, wire::Body body) {
  switch (type) {
    case sbe::Fence::SBE_TEMPLATE_ID:
      fence(master, readFence(body));
      return true;
    case sbe::Free::SBE_TEMPLATE_ID:
      free(master, readFree(body));
      return true;
    case sbe::Purge::SBE_TEMPLATE_ID:
      purge(master, readPurge(body));
      return true;
    case sbe::KeepTombstones::SBE_TEMPLATE_ID:
      keepTombstones(master, readKeepTombstones(body));
      return true;
    case sbe::Copy::SBE_TEMPLATE_ID:
      copy(nowMs, master, readCopy(body));
      return true;
    case sbe::Activate::SBE_TEMPLATE_ID:
      activate(master, readActivate(body));
      return true;
    default:
      return false;
  }
}

void MasterCommands::masterClosed(ConnectionId master) {
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.master == master; });
}

void MasterCommands::fence(ConnectionId master, const Fence& request) {
  const ObjectId before = context_.fencing.purged();
  if (request.authority.epoch >= kEpochMax) {
    throw wire::Malformed("epoch " + std::to_string(request.authority.epoch) + " is none that a Lease can count");
  }
  if (request.authority.epoch >= context_.fencing.seen().epoch) {
    requireNamed(request.authority, request.purgeId, "purge id");
  }
  if (!context_.fencing.fence(request.authority, request.objectLeaseMs, request.purgeId, request.grantSecret)) {
    ++context_.stats.staleRefusals;
    return answerFence(master, request.requestId, false);
  }
  sweepIfRaised(before);
  wait({master, request.requestId, request.authority, true, tier_.on()});
}

void MasterCommands::free(ConnectionId master, const FreeRequest& request) {
  if (!admit(master, request.requestId, request.authority)) return;
  for (const FreeRequest::Entry& entry : request.entries) {
    if (entry.extent.segment == kTierSegment) {
      tier_.free(entry.extent, entry.objectId);
    } else if (context_.directory.free(entry.extent, entry.objectId)) {
      context_.stream.freed(entry.extent, entry.objectId);
      tier_.memoryFreed(entry.objectId);
    }
  }
  tier_.answerFree(master, request.requestId);
}

void MasterCommands::purge(ConnectionId master, const Purge& request) {
  if (!admit(master, request.requestId, request.authority)) return;
  requireNamed(request.authority, request.purgeId, "purge id");
  const ObjectId before = context_.fencing.purged();
  context_.fencing.purge(request.purgeId);
  sweepIfRaised(before);
  wait({master, request.requestId, request.authority, false, tier_.on()});
}

void MasterCommands::keepTombstones(ConnectionId master, const KeepTombstones& request) {
  if (!admit(master, request.requestId, request.authority)) return;
  for (const store::Tombstone& tombstone : request.tombstones)
    requireNamed(request.authority, tombstone.objectId, "tombstone");
  const Result<store::KeptTombstones> kept = context_.directory.keepTombstones(request.tombstones);
  if (!kept.ok()) return context_.answer(master, request.requestId, true, kept.status().code());
  for (const uint32_t slot : kept.value().made)
    context_.stream.committed(slot);
  for (const store::Occupant& old : kept.value().superseded)
    context_.stream.freed(old.extent, old.objectId);
  context_.answer(master, request.requestId, true, KV_OK);
}

void MasterCommands::activate(ConnectionId master, const Activate& request) {
  if (!admit(master, request.requestId, request.authority)) return;
  const wire::Identity& self = context_.config.self;
  const wire::ActiveVersions& wanted = request.versions;
  if (!wire::contains(self.wire, wanted.wire) || !wire::contains(self.layout, wanted.layout)) {
    return context_.answer(master, request.requestId, true, KV_VERSION_MISMATCH);
  }
  const wire::ActiveVersions before = context_.state.active();
  context_.directory.activate(wanted);
  const wire::ActiveVersions after = context_.state.active();
  if (after != before) {
    context_.outbox.note(LogLevel::Info, "the pool speaks wire version " + std::to_string(after.wire) +
                                             " and writes layout " + std::to_string(after.layout) + " from now on");
  }
  context_.answer(master, request.requestId, true, KV_OK);
}

void MasterCommands::copy(uint64_t nowMs, ConnectionId master, const Copy& request) {
  if (!admit(master, request.requestId, request.authority)) return;
  requireNamed(request.authority, request.objectId, "copy of object");
  if (request.toTier) return tier_.demote(master, request);
  copies_.begin(nowMs, master, request);
}

bool MasterCommands::admit(ConnectionId master, uint64_t requestId, const Authority& authority) {
  const int32_t judged = context_.fencing.judge(authority);
  if (judged == KV_OK) return true;
  ++context_.stats.staleRefusals;
  context_.answer(master, requestId, false, judged);
  return false;
}

void MasterCommands::sweepIfRaised(const ObjectId& before) {
  if (context_.fencing.purged() <= before) return;
  sweep_.begin();
  tier_.purge();
}

bool MasterCommands::isReady(const Waiting& waiting) const {
  return !sweep_.running() && tier_.hasPurged() && (!waiting.isFence || !tier_.isClearing());
}

bool MasterCommands::busy() const {
  return sweep_.running() ||
         std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) { return isReady(waiting); });
}

void MasterCommands::wait(const Waiting& waiting) {
  if (isReady(waiting)) return finish(waiting);
  if (waiting_.size() >= kWaitingMax) {
    throw wire::Malformed(std::to_string(kWaitingMax) + " fences and purges wait, the most a node takes");
  }
  waiting_.push_back(waiting);
}

void MasterCommands::continueWork() {
  if (sweep_.running()) sweep_.slice();
  for (const Waiting& waiting : std::exchange(waiting_, {})) {
    if (isReady(waiting)) {
      finish(waiting);
    } else {
      waiting_.push_back(waiting);
    }
  }
}

/// A fence is answered for now: another leader may have come while it waited. A purge stays done, but not on an SSD
/// that failed meanwhile: the leader has to ask again, of a node without a tier.
void MasterCommands::finish(const Waiting& waiting) {
  if (!waiting.isFence) {
    const bool lost = waiting.onTier && !tier_.on();
    if (lost)
      context_.outbox.note(LogLevel::Error, "a purge is not acknowledged: the SSD failed before it had stored it");
    return context_.answer(waiting.master, waiting.requestId, true, lost ? KV_IO : KV_OK);
  }
  answerFence(waiting.master, waiting.requestId, waiting.authority == context_.fencing.seen());
}

void MasterCommands::answerFence(ConnectionId master, uint64_t requestId, bool accepted) {
  context_.answers.push_back(
      {master, wire::framed(appendFenceAck, {requestId, accepted, context_.fencing.seen(),
                                             context_.config.self.incarnation, context_.stream.sequence(),
                                             context_.state.get().objectLeaseMaxMs, context_.fencing.purged()})});
}

}  // namespace kvpool::node
