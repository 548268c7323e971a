// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/core/absence.h"
#include "engine/core/context.h"
#include "engine/core/description.h"
#include "engine/core/neighbor.h"
#include "engine/core/task.h"

namespace kvpool::engine {

/// Our side of everything towards one peer: the connection, what the peer said is registered there, and the tasks that
/// wait for it. Dials when there is something to do; a peer that was lost a moment ago again and again, while a
/// transfer waits. What it knows of the peer is forgotten with the connection.
class PeerLink {
 public:
  PeerLink(Context& context, std::string address) : context_(context), address_(std::move(address)) {}

  void add(Time now, const PeerLines& lines, BatchId batch);
  /// The batch has ended: nothing may touch its memory any more when the actions of this call are done. It must not be
  /// moving.
  void cancel(Time now, BatchId batch);
  [[nodiscard]] bool isMoving(BatchId batch) const;
  [[nodiscard]] bool isMove(uint64_t move) const { return moves_.contains(move); }
  /// The end of a Move.
  void moved(Time now, uint64_t move, const Status& status);

  /// `who` the peer is by its certificate; null: it shows none. `ours`: our end, if bytes may go from memory to memory.
  void opened(Time now, const Principal* who, const std::optional<Introduction>& ours);
  /// The end of a Pull.
  void pulled(Time now, PayloadId pull, const Pulled& end);
  /// We are another one by our certificate than before.
  void identified(Time now);
  /// What is under way ends here, and the next connection, with newer certificates, takes what is to begin.
  void renew(Time now);
  void frame(Time now, wire::Body body);
  void payloadSent(Time now, PayloadId payload);
  void payloadReceived(Time now, uint32_t computedCrc, uint32_t sentCrc);
  void progressed(Time now) { progressAt_ = now; }
  void closed(Time now, const std::string& reason);
  /// Its host has acknowledged nothing for the connect timeout; the connection is gone.
  void silent(Time now, const std::string& reason);
  /// The peer sent what is no answer.
  void malformed(Time now, const std::string& what);
  void tick(Time now);

  /// 0: not connected.
  [[nodiscard]] ConnectionId connection() const { return connection_; }
  [[nodiscard]] bool ready() const { return state_ == State::Ready; }
  [[nodiscard]] bool busy() const { return !tasks_.empty() || !inFlight_.empty(); }
  /// Nothing when not connected.
  [[nodiscard]] const Description* description() const { return ready() ? &description_ : nullptr; }

 private:
  enum class Whom { All, Probes };
  enum class State {
    Idle,
    Waiting,  // until it is time to dial again
    Dialing,
    Greeting,
    Describing,
    Ready,
  };

  void dial(Time now);
  void greeted(Time now, wire::Body body);
  void described(Time now, wire::Body body);
  void introduced(wire::Body body);
  void askForRegions(Time now);
  void advance(Time now);
  void planAll(Time now);
  void planTask(Time now, TaskId id);
  void start(TaskId id, Task& task, Plan plan);
  [[nodiscard]] bool goesByAscend() const { return !context_.config.ascend.empty() && !description_.ascend().empty(); }
  void startMove(TaskId id, Task& task);
  void refuse(TaskId id, Task& task, int32_t status, std::string why);
  void fillWindow(Time now);
  void send(Time now, std::unique_ptr<Request> request);
  void replied(Time now, wire::Body body);
  using InFlight = std::map<uint64_t, std::unique_ptr<Request>>::iterator;
  [[nodiscard]] Request::Way wayOf(const Request& request) const;
  void beginPull(InFlight request, uint64_t withdrawn);
  void bySocket(Time now, InFlight request);
  void refusedToPull(bool& way, const std::string& why);
  void finish(Time now, std::map<uint64_t, std::unique_ptr<Request>>::iterator request, int32_t status,
              const std::string& why);
  void roundOver(TaskId id, Task& task);
  bool again(TaskId id, Task& task);
  void conclude(TaskId id, int32_t status);
  void drop(Time now, int32_t status, const std::string& reason);
  [[nodiscard]] Status judge() const;
  void replace(Time now);
  void forget();
  void unreachable(Time now, const std::string& reason);
  void fail(Whom whom, int32_t status, const std::string& why);
  void interruptAll(const std::string& why);

  Context& context_;
  const std::string address_;
  State state_ = State::Idle;
  ConnectionId connection_ = 0;
  std::optional<Principal> who_;  // is there, by its certificate
  bool renewing_ = false;         // no task begins on this connection any more
  Time dialledAt_ = 0;
  Time progressAt_ = 0;
  Time usedAt_ = 0;
  wire::Hello hello_;
  std::optional<Neighbor> neighbor_;  // nothing: all goes by the connection
  bool peerPulls_ = false;            // so that writes go that way
  bool wePull_ = false;               // and reads that one
  uint64_t incarnation_ = 0;          // of the latest life we met
  Absence absence_;
  Description description_;
  uint64_t asked_ = 0;     // descriptions asked for
  uint64_t answered_ = 0;  // the latest that came
  TaskId lastTask_ = 0;
  std::map<TaskId, Task> tasks_;
  std::set<TaskId> planning_;  // tasks in that phase
  std::deque<std::unique_ptr<Request>> waiting_;
  std::map<uint64_t, std::unique_ptr<Request>> inFlight_;
  std::map<uint64_t, TaskId> moves_;
  std::map<uint64_t, uint64_t> describing_;  // request ids, the number of the question
  uint64_t receiving_ = 0;                   // the read whose payload is coming in
};

}  // namespace kvpool::engine
