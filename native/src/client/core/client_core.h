// SPDX-License-Identifier: Apache-2.0
// The client as a state machine: no I/O, no clock, no threads. Feed it what happened with the time it happened, then do
// what takeActions() says. Same inputs and seed, same actions.
#pragma once

#include <string>
#include <vector>

#include "client/core/batch_table.h"
#include "client/core/context.h"
#include "client/core/get_flow.h"
#include "client/core/key_flow.h"
#include "client/core/leader_calls.h"
#include "client/core/leader_search.h"
#include "client/core/node_links.h"
#include "client/core/put_flow.h"
#include "client/core/put_session_flow.h"

namespace kvpool::client {

class ClientCore {
 public:
  explicit ClientCore(Config config);

  // Inputs. `now` never goes back.
  void submit(Time now, Submission submission);
  /// Ends what is left of a batch with KV_CLOSED; nothing happens when there is no such batch.
  void cancel(Time now, BatchId batch);
  void opened(Time now, ConnectionId connection);
  /// A dial that failed, or a connection that ended; its copies and payloads are forgotten by the shell already.
  void closed(Time now, ConnectionId connection, const std::string& reason);
  /// A dial that found no address for the name.
  void nameUnknown(Time now, ConnectionId connection, const std::string& reason);
  void frame(Time now, ConnectionId connection, wire::Body body);
  /// Bytes of a payload moved.
  void progressed(Time now, ConnectionId connection);
  void payloadSent(Time now, ConnectionId connection, TransferId transfer);
  void payloadReceived(Time now, ConnectionId connection, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc);
  void stagingOffered(Time now, ConnectionId connection, const Result<StagingOffer>& offer);
  void segmentsMapped(Time now, ConnectionId connection, const Status& status);
  void copiedToStaging(Time now, ConnectionId connection, TransferId transfer, uint32_t crc);
  /// `status` KV_OK: the directory named the object before and after the copy; KV_NOT_FOUND: it did not.
  void copiedFromSegment(Time now, ConnectionId connection, TransferId transfer, int32_t status, uint32_t crc);
  /// This connection ends soon, as certificates do: another one is to take its place before, without harm to what is
  /// under way.
  void renew(Time now, ConnectionId connection);
  /// Whether nodes on this machine may be reached by their unix sockets, where the configuration has that at all. At
  /// first they may.
  void shareMemory(Time now, bool may);
  void tick(Time now);
  /// Ends every batch with KV_CLOSED and closes every connection. Nothing may be fed afterwards.
  void shutDown(Time now);

  std::vector<Action> takeActions() { return std::exchange(context_.actions, {}); }
  /// How long the shell may wait for something else before it ticks.
  [[nodiscard]] int64_t tickMs() const;

  /// OK when a leader serves us, else why not.
  [[nodiscard]] Status readiness() const { return search_.leader() ? Status() : search_.whyNone(); }
  /// Whether waiting for a leader is in vain: every master refused this client for what it is.
  [[nodiscard]] bool hopeless() const { return search_.hopeless(); }
  [[nodiscard]] const Statistics& statistics() const { return context_.statistics; }
  [[nodiscard]] const std::string& explanation() const { return context_.explanation(); }

 private:
  void settle();
  void followLeader();
  void deliverResults();
  void expire();
  void endBatch(Batch& batch, int32_t status);
  void lost(const LeaderCalls::Call& call);
  void answer(ConnectionId connection, const Reply& reply);
  void answerCall(const LeaderCalls::Call& call, const Reply& reply);
  void refused(const LeaderCalls::Call& call, int32_t status);

  Context context_;
  LeaderSearch search_;
  NodeLinks links_;
  BatchTable batches_;
  LeaderCalls calls_;
  OpenPuts open_;
  PutFlow puts_;
  PutSessionFlow sessions_;
  GetFlow gets_;
  KeyFlow keys_;
  std::optional<ConnectionId> leader_;  // whom the calls in flight went to
};

}  // namespace kvpool::client
