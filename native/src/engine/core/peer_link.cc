// SPDX-License-Identifier: Apache-2.0
#include "engine/core/peer_link.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/ids.h"
#include "dev_kvpool_wire/EngineNeighbor.h"
#include "dev_kvpool_wire/EngineRegions.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/Welcome.h"
#include "engine/core/membership.h"
#include "wire/frame.h"

namespace kvpool::engine {

namespace sbe = wire::sbe;

void PeerLink::dial(Time now) {
  connection_ = context_.newConnection();
  context_.links[connection_] = this;
  state_ = State::Dialing;
  dialledAt_ = progressAt_ = now;
  context_.act(Dial{connection_, address_});
}

void PeerLink::opened(Time now, const Principal* who, const std::optional<Introduction>& ours) {
  who_ = who == nullptr ? std::nullopt : std::optional(*who);
  if (const Status fits = judge(); !fits.ok()) return drop(now, fits.code(), address_ + ": " + fits.text());
  state_ = State::Greeting;
  if (ours && context_.config.process.pid != 0) neighbor_.emplace(context_.config.process, *ours);
  hello_ = wire::Hello{context_.config.me, 0, wire::kMagic};
  context_.act(SendFrame{connection_, wire::framed(wire::appendHello, hello_)});
}

Status PeerLink::judge() const {
  return judgeMembers(context_.ourselves(), who_ ? &*who_ : nullptr);
}

void PeerLink::identified(Time now) {
  if (state_ != State::Greeting && state_ != State::Describing && state_ != State::Ready) return;
  const Status fits = judge();
  if (fits.ok()) return;
  const std::string why = address_ + ": " + fits.text();
  context_.act(Close{connection_, why, false});
  fail(Whom::All, fits.code(), why);
  closed(now, why);
}

void PeerLink::frame(Time now, wire::Body body) {
  progressAt_ = now;
  switch (state_) {
    case State::Idle:
    case State::Waiting:
    case State::Dialing:
      return;
    case State::Greeting:
      return greeted(now, body);
    case State::Describing:
    case State::Ready:
      if (wire::templateOf(body) == sbe::EngineNeighbor::sbeTemplateId()) return introduced(body);
      if (wire::templateOf(body) == sbe::EngineRegions::sbeTemplateId()) return described(now, body);
      return replied(now, body);
  }
}

void PeerLink::greeted(Time now, wire::Body body) {
  if (wire::templateOf(body) == sbe::Refused::sbeTemplateId()) {
    const Status refusal = wire::refusalStatus(wire::readRefused(body), address_);
    return drop(now, refusal.code(), refusal.text());
  }
  const wire::Welcome welcome = wire::readWelcome(body);
  const Status fits = wire::judgeWelcome(welcome, wire::Role::Engine, hello_);
  if (!fits.ok()) return drop(now, fits.code(), address_ + ": " + fits.text());
  if (incarnation_ != 0 && incarnation_ != welcome.self.incarnation) {
    ++context_.counters.peerRestarts;
    context_.act(Note{LogLevel::Info, "the transfer engine at " + address_ + " is another process than before"});
  }
  incarnation_ = welcome.self.incarnation;
  context_.act(Welcomed{connection_});
  state_ = State::Describing;
  if (neighbor_) context_.act(SendFrame{connection_, neighborFrame(neighbor_->claim())});
  askForRegions(now);
}

/// Comes before the regions, so that the first transfer knows how it goes.
void PeerLink::introduced(wire::Body body) {
  const NeighborClaim claim = readNeighbor(body);
  if (!neighbor_ || neighbor_->heard()) throw wire::Malformed("an introduction that was not asked for");
  const std::optional<Status> met = neighbor_->meet(claim);
  if (!met) return;
  if (!met->ok()) return context_.refusedSameMachine(address_, met->text());
  context_.act(Meet{connection_, claim, neighbor_->challenge()});
  peerPulls_ = wePull_ = true;
}

void PeerLink::askForRegions(Time now) {
  const uint64_t id = context_.newRequest();
  describing_[id] = ++asked_;
  progressAt_ = now;
  context_.act(SendFrame{connection_, describeFrame(id)});
}

void PeerLink::described(Time now, wire::Body body) {
  Regions regions = readRegions(body);
  const auto question = describing_.find(regions.id);
  if (question == describing_.end()) throw wire::Malformed("regions that were not asked for");
  Result<Description> description = Description::of(std::move(regions.regions), std::move(regions.ascend));
  if (!description.ok()) throw wire::Malformed(description.status().text());
  answered_ = question->second;
  describing_.erase(question);
  description_ = std::move(description.value());
  state_ = State::Ready;
  absence_.end();
  usedAt_ = now;
  advance(now);
}

/// We end the connection. One that was not ready yet shows what the peer is: waiting would not change it.
void PeerLink::drop(Time now, int32_t status, const std::string& reason) {
  context_.act(Close{connection_, reason, false});
  if (state_ != State::Ready) fail(Whom::All, status, reason);
  closed(now, reason);
}

void PeerLink::closed(Time now, const std::string& reason) {
  const bool wasReady = state_ == State::Ready;
  const bool missed = busy();
  forget();
  if (!wasReady) return unreachable(now, reason);
  absence_.begin(now, reason);
  const std::string why = "lost the connection to " + address_ + ": " + reason;
  if (missed) context_.explanation = why;
  interruptAll(why);
  advance(now);
}

/// What belonged to the connection. Where the peer is never met again, nothing else would end its channel.
void PeerLink::forget() {
  if (goesByAscend()) context_.act(ForgetChannel{description_.ascend()});
  state_ = State::Idle;
  context_.links.erase(connection_);
  connection_ = 0;
  who_.reset();
  neighbor_.reset();  // from now on nothing that the peer copies from here counts
  peerPulls_ = wePull_ = false;
  renewing_ = false;
  description_ = Description();
  describing_.clear();
  receiving_ = 0;
}

void PeerLink::renew(Time now) {
  renewing_ = true;
  advance(now);
}

/// Tasks that have not begun lose no attempt: they begin on the next connection.
void PeerLink::replace(Time now) {
  if (state_ != State::Ready || !waiting_.empty() || !inFlight_.empty()) return;
  context_.act(
      Close{connection_, "the connection to " + address_ + " is replaced by one with newer certificates", false});
  forget();
  absence_.begin(now, "its connection was to be replaced by one with newer certificates");
  if (!tasks_.empty()) dial(now);
}

/// The host was given the time to connect already: dialling it would take that time once more.
void PeerLink::silent(Time now, const std::string& reason) {
  if (state_ == State::Ready) fail(Whom::All, KV_TRANSFER_FAILED, address_ + ": " + reason);
  closed(now, reason);
}

/// Who asks whether the peer is there has the answer. Transfers to one that was there a moment ago wait for it.
void PeerLink::unreachable(Time now, const std::string& reason) {
  absence_.dialFailed(now, reason);
  const bool mayBeBack = absence_.isFresh(now);
  fail(mayBeBack ? Whom::Probes : Whom::All, KV_CONNECT_FAILED,
       "cannot reach the transfer engine at " + address_ + ": " + reason);
  if (tasks_.empty()) return;
  state_ = State::Waiting;
  if (absence_.dialsFailed() > 1) return;
  context_.act(Note{LogLevel::Info, "the transfer engine at " + address_ + " " + absence_.story(now) +
                                        "; transfers wait for it until " + std::to_string(kRestartMs) +
                                        " ms after the loss"});
}

void PeerLink::malformed(Time now, const std::string& what) {
  ++context_.counters.protocolErrors;
  drop(now, KV_PROTOCOL, address_ + " sent malformed bytes: " + what + "; is that a transfer engine?");
}

void PeerLink::tick(Time now) {
  const auto timedOut = [now](Time since, int64_t limit) { return now - since > limit; };
  switch (state_) {
    case State::Idle:
      return;
    case State::Waiting:
      if (tasks_.empty()) {
        state_ = State::Idle;
      } else if (absence_.dialDue(now)) {
        dial(now);
      }
      return;
    case State::Dialing:
    case State::Greeting:
    case State::Describing:
      if (timedOut(dialledAt_, context_.config.connectTimeoutMs)) {
        const std::string reason = "no answer within " + std::to_string(context_.config.connectTimeoutMs) +
                                   " ms; is a transfer engine running there?";
        context_.act(Close{connection_, address_ + ": " + reason, false});
        closed(now, reason);
      }
      return;
    case State::Ready:
      if ((!inFlight_.empty() || !describing_.empty()) && timedOut(progressAt_, context_.config.transferTimeoutMs)) {
        drop(now, KV_TRANSFER_FAILED, "no progress for " + std::to_string(context_.config.transferTimeoutMs) + " ms");
      } else if (!busy() && timedOut(usedAt_, context_.config.idleTimeoutMs)) {
        drop(now, KV_OK, "idle");
      }
      return;
  }
}

// ---- requests ----
// Tasks become requests, replies and lost connections decide what becomes of their lines.

void PeerLink::add(Time now, const PeerLines& lines, BatchId batch) {
  Task task;
  task.batch = batch;
  task.op = context_.batches.submission(batch).op;
  task.lines = lines.lines;
  task.askedBefore = asked_;
  const TaskId id = ++lastTask_;
  tasks_.emplace(id, std::move(task));
  planning_.insert(id);
  if (state_ == State::Idle) dial(now);
  if (state_ == State::Ready && !renewing_) planTask(now, id);
  fillWindow(now);
}

/// Goes on with what waits.
void PeerLink::advance(Time now) {
  if (state_ == State::Idle && !tasks_.empty()) dial(now);
  if (state_ != State::Ready) return;
  if (!renewing_) planAll(now);
  fillWindow(now);
}

void PeerLink::planAll(Time now) {
  const std::vector<TaskId> unplanned(planning_.begin(), planning_.end());
  for (const TaskId id : unplanned)
    planTask(now, id);
}

void PeerLink::planTask(Time now, TaskId id) {
  Task& task = tasks_.at(id);
  const bool fresh = answered_ > task.askedBefore;
  const auto ask = [&] {
    if (asked_ == task.askedBefore) askForRegions(now);  // else a question younger than the attempt is on its way
  };
  const bool mustBeFresh = task.op == TransferOp::Probe || (task.attempt > 1 && task.op != TransferOp::Connect);
  if (mustBeFresh && !fresh) return ask();
  if (task.op == TransferOp::Probe || task.op == TransferOp::Connect) return start(id, task, {});
  const std::vector<Line>& lines = context_.batches.submission(task.batch).lines;
  Plan planned = plan(lines, task.lines, description_);
  if (!planned.unregistered.empty() && !fresh) return ask();
  for (const uint32_t line : planned.unregistered) {
    std::erase(task.lines, line);
    task.unregistered.push_back(line);
    context_.explanation = "no region registered at " + address_ + " holds the " + std::to_string(lines[line].length) +
                           " bytes at 0x" + hex16(lines[line].remote) +
                           (task.attempt > 1 ? "; the peer may have restarted since the address was learned" : "");
  }
  if (goesByAscend()) {
    // The peer's processor has no part in it, so that this side is the only one which can see what its certificate
    // allows.
    const Status may = task.op == TransferOp::Write ? judgeWriter(context_.ourselves()) : Status();
    if (!may.ok()) return refuse(id, task, may.code(), may.text());
    return startMove(id, task);
  }
  if (!context_.config.tcp) {
    return refuse(
        id, task, KV_CONNECT_FAILED,
        "the transfer engine at " + address_ + " has no engine of CANN, and tcp is not in the list of protocols here");
  }
  for (const uint32_t index : task.lines) {
    const auto local = reinterpret_cast<uintptr_t>(lines[index].local);
    if (!context_.regions.isOfDevice(local, lines[index].length)) continue;
    return refuse(id, task, KV_INVALID_ARGUMENT,
                  "the " + std::to_string(lines[index].length) + " bytes at 0x" + hex16(local) + kOfDevice +
                      ", and the transfer engine at " + address_ + " has no engine of CANN");
  }
  start(id, task, std::move(planned));
}

/// All lines of the attempt at once, which succeed or fail together.
void PeerLink::startMove(TaskId id, Task& task) {
  const Submission& submission = context_.batches.submission(task.batch);
  Move move{context_.newRequest(),
            description_.ascend(),
            description_.latest(),
            task.op == TransferOp::Read,
            {},
            submission.deadline,
            incarnation_ == context_.config.me.incarnation};
  for (const uint32_t index : task.lines) {
    const Line& line = submission.lines[index];
    if (line.length == 0) continue;
    const auto local = reinterpret_cast<uintptr_t>(line.local);
    const bool isHere = context_.regions.holds(local, line.length);
    // Nothing else looks at both ends of a copy within this engine, whose description may be out of date.
    if (isHere && (!move.isOwn || context_.regions.holds(line.remote, line.length))) {
      move.pieces.push_back({line.local, line.remote, line.length});
      continue;
    }
    context_.explanation = "the " + std::to_string(line.length) + " bytes at 0x" + hex16(isHere ? line.remote : local) +
                           " are not registered here, which the ascend transport needs";
    task.unregistered.push_back(index);
  }
  std::erase_if(task.lines,
                [&](uint32_t line) { return std::ranges::find(task.unregistered, line) != task.unregistered.end(); });
  if (move.pieces.empty()) return start(id, task, {});
  task.phase = Task::Phase::Transferring;
  task.requestsOpen = 1;
  task.moving = true;
  planning_.erase(id);
  moves_.emplace(move.move, id);
  context_.act(std::move(move));
}

/// Nothing is tried again: the peer has no other protocol.
void PeerLink::refuse(TaskId id, Task& task, int32_t status, std::string why) {
  context_.explanation = std::move(why);
  task.attempt = kAttempts;
  for (const uint32_t line : task.lines)
    task.fail(line, status);
  start(id, task, {});
}

void PeerLink::moved(Time now, uint64_t move, const Status& status) {
  const auto found = moves_.find(move);
  const TaskId id = found->second;
  Task& task = tasks_.at(id);
  moves_.erase(found);
  task.moving = false;
  task.requestsOpen = 0;
  usedAt_ = now;
  if (!status.ok()) {
    context_.explanation = address_ + ": " + status.text();
    for (const uint32_t line : task.lines)
      task.fail(line, status.code());
  }
  roundOver(id, task);
  advance(now);
}

bool PeerLink::isMoving(BatchId batch) const {
  return std::ranges::any_of(moves_, [&](const auto& move) { return tasks_.at(move.second).batch == batch; });
}

void PeerLink::start(TaskId id, Task& task, Plan planned) {
  task.phase = Task::Phase::Transferring;
  planning_.erase(id);
  task.requestsOpen = planned.requests.size();
  const auto kind = task.op == TransferOp::Read ? Request::Kind::Read : Request::Kind::Write;
  for (PlannedRequest& one : planned.requests) {
    waiting_.push_back(std::make_unique<Request>(Request{kind, id, std::move(one), false, false}));
  }
  if (task.requestsOpen == 0) roundOver(id, task);
}

void PeerLink::fillWindow(Time now) {
  while (state_ == State::Ready && inFlight_.size() < kRequestsInFlight && !waiting_.empty()) {
    std::unique_ptr<Request> next = std::move(waiting_.front());
    waiting_.pop_front();
    send(now, std::move(next));
  }
  if (renewing_) replace(now);
}

void PeerLink::send(Time now, std::unique_ptr<Request> request) {
  const uint64_t id = context_.newRequest();
  usedAt_ = now;
  if (inFlight_.empty()) progressAt_ = now;
  const PlannedRequest& planned = request->plan;
  request->way = wayOf(*request);
  switch (request->kind) {
    case Request::Kind::Write:
      if (request->way == Request::Way::PeerPulls) {
        context_.act(SendFrame{connection_, pullFrame(id, planned.remote, planned.local)});
        break;
      }
      request->payloadUnsent = true;
      context_.act(SendFrame{connection_, writeFrame(id, planned.remote)});
      context_.act(SendPayload{connection_, id, Pieces(planned.local), planned.bytes});
      break;
    case Request::Kind::Read:
      if (request->way == Request::Way::WePull) {
        context_.act(SendFrame{connection_, mayReadFrame(id, planned.remote)});
        break;
      }
      context_.act(SendFrame{connection_, readFrame(id, planned.remote)});
      break;
    case Request::Kind::Notify:
      context_.act(
          SendFrame{connection_, notifyFrame(id, *context_.batches.submission(tasks_.at(request->task).batch).notify)});
      break;
  }
  inFlight_.emplace(id, std::move(request));
}

Request::Way PeerLink::wayOf(const Request& request) const {
  if (request.socketOnly) return Request::Way::Socket;
  if (request.kind == Request::Kind::Write && peerPulls_) return Request::Way::PeerPulls;
  if (request.kind == Request::Kind::Read && wePull_) return Request::Way::WePull;
  return Request::Way::Socket;
}

/// The peer says that its memory may be read.
void PeerLink::beginPull(InFlight request, uint64_t withdrawn) {
  Request& one = *request->second;
  one.way = Request::Way::Pulling;
  std::vector<uint64_t> from;
  from.reserve(one.plan.remote.size());
  for (const RemotePiece& piece : one.plan.remote)
    from.push_back(piece.address);
  context_.act(Pull{connection_, request->first, one.plan.local, std::move(from), withdrawn});
}

void PeerLink::pulled(Time now, PayloadId pull, const Pulled& end) {
  const auto request = inFlight_.find(pull);
  if (request == inFlight_.end() || request->second->way != Request::Way::Pulling) return;
  progressAt_ = now;
  switch (end.how) {
    case Pulled::How::Done:
      return finish(now, request, KV_OK, "");
    case Pulled::How::Refused:
      refusedToPull(wePull_, end.why);
      return bySocket(now, request);
    case Pulled::How::Withdrawn:
    case Pulled::How::Gone:
      return bySocket(now, request);
  }
}

/// What cannot be copied from memory to memory goes by the connection, which has its own answer.
void PeerLink::bySocket(Time now, InFlight request) {
  std::unique_ptr<Request> once = std::move(request->second);
  inFlight_.erase(request);
  if (!once->orphan) {
    once->socketOnly = true;
    waiting_.push_front(std::move(once));
  }
  fillWindow(now);
}

/// Once for a connection and a direction.
void PeerLink::refusedToPull(bool& way, const std::string& why) {
  if (std::exchange(way, false)) context_.refusedSameMachine(address_, why);
}

void PeerLink::payloadSent(Time, PayloadId payload) {
  if (const auto request = inFlight_.find(payload); request != inFlight_.end()) request->second->payloadUnsent = false;
}

void PeerLink::replied(Time now, wire::Body body) {
  const Reply reply = readReply(body);
  const auto found = inFlight_.find(reply.id);
  if (found == inFlight_.end() || receiving_ == reply.id) throw wire::Malformed("a reply to no request");
  const Request& request = *found->second;
  if (request.payloadUnsent) throw wire::Malformed("a reply before the payload was sent");
  if (request.way == Request::Way::Pulling) throw wire::Malformed("a reply to what was answered");
  const bool hasPayload =
      request.kind == Request::Kind::Read && request.way == Request::Way::Socket && reply.status == KV_OK;
  if (reply.payloadLength != (hasPayload ? request.plan.bytes : 0))
    throw wire::Malformed("a payload of another length");
  if (!hasPayload) {
    if (request.way != Request::Way::Socket && reply.status == KV_UNAVAILABLE) {
      refusedToPull(request.way == Request::Way::PeerPulls ? peerPulls_ : wePull_, reply.message);
      return bySocket(now, found);
    }
    if (request.way == Request::Way::WePull && reply.status == KV_OK && !request.orphan)
      return beginPull(found, reply.withdrawn);
    return finish(now, found, reply.status, reply.message);
  }
  receiving_ = reply.id;
  std::optional<Pieces> destination;
  if (!request.orphan) destination.emplace(request.plan.local);
  context_.act(ReceivePayload{connection_, destination, request.plan.bytes});
}

void PeerLink::payloadReceived(Time now, uint32_t computedCrc, uint32_t sentCrc) {
  const auto found = inFlight_.find(std::exchange(receiving_, 0));
  if (found == inFlight_.end()) return;
  // What was dropped has no checksum of ours.
  const bool whole = computedCrc == sentCrc || found->second->orphan;
  if (!whole) ++context_.counters.checksumFailures;
  finish(now, found, whole ? KV_OK : KV_CHECKSUM, whole ? "" : "bytes changed on their way");
}

void PeerLink::finish(Time now, std::map<uint64_t, std::unique_ptr<Request>>::iterator request, int32_t status,
                      const std::string& why) {
  usedAt_ = now;
  const std::unique_ptr<Request> done = std::move(request->second);
  inFlight_.erase(request);
  if (done->orphan) return fillWindow(now);
  if (status == KV_OK && done->way != Request::Way::Socket) {
    ++context_.counters.sameMachineRequests;
    context_.counters.sameMachineBytes += done->plan.bytes;
  }
  if (status != KV_OK) context_.explanation = address_ + ": " + (why.empty() ? statusText(status) : why);
  Task& task = tasks_.at(done->task);
  if (done->kind == Request::Kind::Notify) {
    if (status == KV_OK) ++context_.counters.notifiesSent;
    conclude(done->task, status);
    return fillWindow(now);
  }
  for (const uint32_t line : done->plan.lines) {
    if (status != KV_OK) task.fail(line, status);
  }
  if (--task.requestsOpen == 0) roundOver(done->task, task);
  advance(now);
}

/// Every line of this attempt is done or has failed.
void PeerLink::roundOver(TaskId id, Task& task) {
  std::copy_if(task.lines.begin(), task.lines.end(), std::back_inserter(task.done),
               [&](uint32_t line) { return !task.failed.contains(line); });
  if (again(id, task)) return;
  const bool whole = task.failed.empty() && task.unregistered.empty();
  if (!whole || !context_.batches.submission(task.batch).notify) return conclude(id, KV_OK);
  task.phase = Task::Phase::Notifying;
  waiting_.push_back(std::make_unique<Request>(Request{Request::Kind::Notify, id, {}, false, false}));
}

/// The failed lines once more, with what the peer then says is registered. False when that has been done.
bool PeerLink::again(TaskId id, Task& task) {
  if (task.failed.empty() || task.attempt >= kAttempts) return false;
  ++task.attempt;
  task.lines.clear();
  for (const auto& [line, status] : task.failed)
    task.lines.push_back(line);
  context_.counters.retries += task.failed.size();
  task.failed.clear();
  task.askedBefore = asked_;
  task.phase = Task::Phase::Planning;
  planning_.insert(id);
  return true;
}

/// The task is over. `told` is what became of the notification, if there was one.
void PeerLink::conclude(TaskId id, int32_t told) {
  const Task task = std::move(tasks_.at(id));
  tasks_.erase(id);
  planning_.erase(id);
  for (const uint32_t line : task.done)
    context_.batches.settle(task.batch, line, told);
  for (const uint32_t line : task.unregistered)
    context_.batches.settle(task.batch, line, KV_NOT_REGISTERED);
  for (const auto& [line, status] : task.failed)
    context_.batches.settle(task.batch, line, status);
  if (auto finished = context_.batches.peerDone(task.batch)) context_.act(std::move(*finished));
}

/// The peer cannot be had.
void PeerLink::fail(Whom whom, int32_t status, const std::string& why) {
  for (auto next = tasks_.begin(); next != tasks_.end();) {
    const TaskId id = next->first;
    Task& task = (next++)->second;
    if (task.moving || (whom == Whom::Probes && task.op != TransferOp::Probe)) continue;
    context_.explanation = why;
    for (const uint32_t line : task.lines)
      task.fail(line, status);
    std::erase_if(waiting_, [id](const auto& request) { return request->task == id; });
    conclude(id, KV_OK);
  }
}

/// The connection is gone with all that was on its way.
void PeerLink::interruptAll(const std::string& why) {
  waiting_.clear();
  inFlight_.clear();
  for (auto next = tasks_.begin(); next != tasks_.end();) {
    const TaskId id = next->first;
    Task& task = (next++)->second;
    if (task.moving) continue;
    if (task.phase == Task::Phase::Notifying) {
      conclude(id, KV_TRANSFER_FAILED);  // it may have been told: twice would be worse than a failure
      continue;
    }
    task.requestsOpen = 0;
    for (const uint32_t line : task.lines)
      task.fail(line, KV_TRANSFER_FAILED);
    if (again(id, task)) continue;
    context_.explanation = why + ", in the second and last attempt of a transfer";
    conclude(id, KV_OK);
  }
}

void PeerLink::cancel(Time now, BatchId batch) {
  const auto found =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& entry) { return entry.second.batch == batch; });
  if (found == tasks_.end()) return;
  const TaskId id = found->first;
  if (state_ == State::Ready) {
    context_.explanation = "ran out of time while transferring with " + address_;
  } else if (absence_.isFresh(now)) {
    context_.explanation = "ran out of time: " + address_ + " " + absence_.story(now);
  } else {
    context_.explanation = "ran out of time while connecting to " + address_;
  }
  tasks_.erase(found);
  planning_.erase(id);
  std::erase_if(waiting_, [&](const auto& request) { return request->task == id; });
  bool halfSent = false;
  for (auto next = inFlight_.begin(); next != inFlight_.end();) {
    const auto one = next++;
    Request& request = *one->second;
    if (request.task != id || request.orphan) continue;
    request.orphan = true;
    halfSent = halfSent || request.payloadUnsent || request.way == Request::Way::PeerPulls;
    if (one->first == receiving_) context_.act(DropPayload{connection_});
    if (request.way != Request::Way::Pulling) continue;
    context_.act(DropPull{connection_, one->first});
    inFlight_.erase(one);
  }
  // Half a payload cannot be taken back otherwise, nor what the peer is copying.
  if (halfSent) return drop(now, KV_TRANSFER_FAILED, "a transfer ran out of time");
  // Of what was being copied no answer comes that would let others begin.
  fillWindow(now);
}

}  // namespace kvpool::engine
