// SPDX-License-Identifier: Apache-2.0
#include "client/core/client_core.h"

#include <utility>

#include "client/core/leader_bounds.h"

namespace kvpool::client {

ClientCore::ClientCore(Config config)
    : context_(std::move(config)),
      search_(context_),
      links_(context_),
      batches_(context_),
      calls_(context_, batches_, search_),
      puts_(context_, batches_, links_, open_),
      sessions_(context_, batches_, links_, open_),
      gets_(context_, batches_, links_),
      keys_(context_, batches_) {}

// ---- inputs ----

void ClientCore::submit(Time now, Submission submission) {
  context_.now = now;
  const uint64_t lines = submission.lines.size();
  if (submission.op == OpCode::Put || submission.op == OpCode::PutEnd) context_.statistics.puts += lines;
  if (submission.op == OpCode::Get) context_.statistics.gets += lines;
  const bool reuses = submission.op == OpCode::Get && submission.reuse;
  Batch& batch = batches_.admit(std::move(submission));
  if (reuses) gets_.readKnown(batch, search_.pool());
  if (isOfPutSession(batch.asked.op)) sessions_.begin(batch, search_.pool());
  settle();
}

void ClientCore::cancel(Time now, BatchId batch) {
  context_.now = now;
  if (Batch* found = batches_.find(batch)) endBatch(*found, KV_CLOSED);
  settle();
}

void ClientCore::opened(Time now, ConnectionId connection) {
  context_.now = now;
  if (search_.owns(connection)) {
    search_.opened(connection);
  } else if (NodeConnection* node = links_.nodeConnection(connection)) {
    node->opened();
  }
  settle();
}

void ClientCore::closed(Time now, ConnectionId connection, const std::string& reason) {
  context_.now = now;
  if (search_.owns(connection)) {
    search_.closed(connection, reason);
  } else if (NodeConnection* node = links_.nodeConnection(connection)) {
    node->closed(reason);
  }
  settle();
}

void ClientCore::nameUnknown(Time now, ConnectionId connection, const std::string& reason) {
  context_.now = now;
  if (!search_.owns(connection)) return closed(now, connection, reason);
  search_.nameUnknown(connection, reason);
  settle();
}

void ClientCore::frame(Time now, ConnectionId connection, wire::Body body) {
  context_.now = now;
  NodeConnection* node = search_.owns(connection) ? nullptr : links_.nodeConnection(connection);
  search_.heard(connection);
  try {
    const Reply reply = decodeReply(body);
    if (node != nullptr) {
      node->replied(reply);
    } else if (!search_.replied(connection, reply)) {
      answer(connection, reply);
    }
  } catch (const wire::Malformed& malformed) {
    const Status why(KV_PROTOCOL, std::string("sent malformed bytes: ") + malformed.what());
    if (node != nullptr) {
      node->fail(why);
    } else {
      search_.drop(connection, why);
    }
  }
  settle();
}

void ClientCore::progressed(Time now, ConnectionId connection) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->progressed();
}

void ClientCore::payloadSent(Time now, ConnectionId connection, TransferId transfer) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->payloadSent(transfer);
  settle();
}

void ClientCore::payloadReceived(Time now, ConnectionId connection, TransferId transfer, uint32_t computedCrc,
                                 uint32_t sentCrc) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->payloadReceived(transfer, computedCrc, sentCrc);
  settle();
}

void ClientCore::segmentsMapped(Time now, ConnectionId connection, const Status& status) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->segmentsMapped(status);
  settle();
}

void ClientCore::stagingOffered(Time now, ConnectionId connection, const Result<StagingOffer>& offer) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->stagingOffered(offer);
  settle();
}

void ClientCore::copiedToStaging(Time now, ConnectionId connection, TransferId transfer, uint32_t crc) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->copiedToStaging(transfer, crc);
  settle();
}

void ClientCore::copiedFromSegment(Time now, ConnectionId connection, TransferId transfer, int32_t status,
                                   uint32_t crc) {
  context_.now = now;
  if (NodeConnection* node = links_.nodeConnection(connection)) node->copiedFromSegment(transfer, status, crc);
  settle();
}

void ClientCore::renew(Time now, ConnectionId connection) {
  context_.now = now;
  if (search_.owns(connection)) {
    search_.renew(connection);
  } else {
    links_.renew(connection);
  }
  settle();
}

void ClientCore::shareMemory(Time now, bool may) {
  if (may == context_.sharesMemory) return;
  context_.now = now;
  context_.sharesMemory = may;
  if (!may) links_.endShared();
  settle();
}

void ClientCore::tick(Time now) {
  context_.now = now;
  search_.tick();
  links_.tick();
  sessions_.tick();
  expire();
  settle();
}

void ClientCore::shutDown(Time now) {
  context_.now = now;
  for (auto& [id, batch] : batches_.all())
    endBatch(batch, KV_CLOSED);
  batches_.sweep();
  links_.closeAll();
  search_.closeAll();
}

int64_t ClientCore::tickMs() const {
  // Batches need their backoffs and deadlines kept; without any only heartbeats are due.
  constexpr int64_t kBusyMs = 5;
  constexpr int64_t kSearchingMs = 10;
  constexpr int64_t kIdleMs = 100;
  if (!batches_.empty()) return kBusyMs;
  return search_.leader() ? kIdleMs : kSearchingMs;
}

// ---- what follows from an input ----

void ClientCore::settle() {
  if (search_.renews() && calls_.empty()) search_.redial();
  followLeader();
  links_.rescueStranded(search_.pool());
  deliverResults();
  batches_.wakeDelayed();
  calls_.pump();
  batches_.sweep();
}

void ClientCore::followLeader() {
  const std::optional<ConnectionId> serving = search_.leader();
  if (serving == leader_) return;
  leader_ = serving;
  for (const LeaderCalls::Call& call : calls_.takeAll())
    lost(call);
}

void ClientCore::lost(const LeaderCalls::Call& call) {
  Batch* batch = batches_.find(call.batch);
  if (batch == nullptr) return;
  for (uint32_t line : call.lines) {
    ++context_.statistics.retries;
    batch->lines[line].lost = true;
    if (call.step == LeaderCalls::Step::Publish) {
      batches_.publish(*batch, line);
    } else {
      batches_.ask(*batch, line);
    }
  }
}

void ClientCore::deliverResults() {
  // Starting the next copy of a get may produce a result at once, so go on until there are none.
  for (auto results = links_.takeResults(); !results.empty(); results = links_.takeResults()) {
    for (const TransferResult& result : results) {
      Batch* batch = batches_.find(result.batch);
      if (batch == nullptr || batch->lines[result.line].done) continue;
      if (batch->asked.op == OpCode::Put || batch->asked.op == OpCode::PutStart) {
        puts_.written(*batch, result);
      } else if (isOfPutSession(batch->asked.op)) {
        sessions_.answered(*batch, result);
      } else {
        gets_.read(*batch, result, search_.pool());
      }
    }
  }
}

void ClientCore::expire() {
  for (auto& [id, batch] : batches_.all()) {
    if (context_.now < batch.asked.deadline) continue;
    const Status leader = readiness();
    if (!leader.ok()) {
      context_.explain(leader.text());
    } else if (context_.explanations() == batch.explainedBefore) {
      context_.explain("time ran out with " + std::to_string(batch.open) + " of " + std::to_string(batch.lines.size()) +
                       " keys not done");
    }
    endBatch(batch, leader.code());
  }
}

/// Ends every open line: with `status`, or, when that is KV_OK, with what stood in the line's way.
void ClientCore::endBatch(Batch& batch, int32_t status) {
  links_.abandon(batch.asked.id);
  for (uint32_t line = 0; line < batch.lines.size(); ++line) {
    if (batch.lines[line].done) continue;
    if (batch.asked.op == OpCode::PutStart) sessions_.giveUpStart(batch.lines[line]);
    batch.lines[line].next.reset();  // they end here as well, not by being asked
    batches_.end(batch, line, status != KV_OK ? status : batch.lines[line].obstacle);
  }
}

// ---- answers of the leader ----

void ClientCore::answer(ConnectionId connection, const Reply& reply) {
  const std::optional<ReplyHead> head = headOf(reply);
  if (!head) return search_.drop(connection, Status(KV_PROTOCOL, "sent a message that no client asked for"));
  const std::optional<LeaderCalls::Call> call = calls_.take(head->request);
  if (!call) return search_.drop(connection, Status(KV_PROTOCOL, "answered a request that was not asked"));
  if (head->status != KV_OK) return refused(*call, head->status);
  if (!fits(*call, reply) || head->lines != call->lines.size()) {
    search_.drop(connection, Status(KV_PROTOCOL, "answered " + std::to_string(call->lines.size()) + " keys with " +
                                                     std::to_string(head->lines) + " results"));
    return lost(*call);
  }
  search_.confirm();
  if (head->epoch != 0 && head->epoch != context_.statistics.epoch) {
    context_.statistics.epoch = head->epoch;
    gets_.forgetAll();
  }
  answerCall(*call, reply);
}

void ClientCore::answerCall(const LeaderCalls::Call& call, const Reply& reply) {
  Batch* batch = batches_.find(call.batch);
  if (batch == nullptr) return;  // its time ran out
  if (call.op == OpCode::Remove && batch->asked.ofGroups) {
    gets_.forgetAll();  // what belongs to a group is the leader's knowledge
  } else if (call.op == OpCode::Put || call.op == OpCode::PutEnd || call.op == OpCode::Remove) {
    for (const uint32_t line : call.lines)
      gets_.forget(batch->key(line));
  }
  if (call.step == LeaderCalls::Step::Publish && isOfPutSession(call.op) && call.op != OpCode::PutStart) {
    sessions_.published(*batch, call.lines, std::get<KeysReply>(reply));
    return;
  }
  if (call.step == LeaderCalls::Step::Publish) {
    puts_.published(*batch, call.lines, std::get<KeysReply>(reply));
    return;
  }
  switch (call.op) {
    case OpCode::Put:
    case OpCode::PutStart:
      return puts_.granted(*batch, call.lines, std::get<GrantReply>(reply), search_.pool());
    case OpCode::Get:
      return gets_.located(*batch, call.lines, std::get<LookupReply>(reply), call.sentAt, search_.pool());
    case OpCode::Exists:
    case OpCode::Remove:
    case OpCode::Retain:
    case OpCode::Release:
    case OpCode::Prefetch:
      return keys_.answered(*batch, call.lines, std::get<KeysReply>(reply));
    case OpCode::Locate:
      return keys_.located(*batch, call.lines, std::get<LookupReply>(reply));
    case OpCode::RemoveAll:
      gets_.forgetAll();
      return keys_.removedAll(*batch, std::get<RemoveAllReply>(reply));
    case OpCode::Copy:
    case OpCode::AskTask:
      return keys_.told(*batch, std::get<TaskReply>(reply));
    case OpCode::PutParts:
    case OpCode::PutEnd:
    case OpCode::PutRevoke:
      break;  // only published
  }
}

void ClientCore::refused(const LeaderCalls::Call& call, int32_t status) {
  const bool leadsNoMore = status == KV_NOT_LEADER || status == KV_RECOVERING || status == KV_STALE_EPOCH;
  if (leadsNoMore) {
    search_.demote(status);
    return lost(call);
  }
  Batch* batch = batches_.find(call.batch);
  if (batch == nullptr) return;
  const bool transient =
      status == KV_QUEUE_FULL || status == KV_BUSY || status == KV_UNAVAILABLE || status == KV_TIMEOUT;
  const std::string_view bounds = call.op == OpCode::RemoveAll ? bound::kSweepsOrWaiting
                                  : call.op == OpCode::Copy    ? bound::kTasks
                                                               : bound::kWaitingRequests;
  context_.explain(status == KV_QUEUE_FULL ? leaderIsFull(bounds)
                                           : std::string("the leader refused a request: ") + statusText(status));
  for (uint32_t line : call.lines) {
    if (!transient) {
      batches_.end(*batch, line, status);
    } else if (call.step == LeaderCalls::Step::Publish) {
      batches_.publishLater(*batch, line, status);
    } else {
      batches_.askLater(*batch, line, status);
    }
  }
}

}  // namespace kvpool::client
