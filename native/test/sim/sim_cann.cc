// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_cann.h"

#include <string>
#include <utility>
#include <variant>

#include "base/log.h"

namespace kvpool::sim {

// ---- calls of CANN ----

SimMover::SimMover(const ascend::RouteSettings& settings, uint32_t callsMax)
    : patienceMs_(ascend::Time{settings.connectTimeoutMs} + settings.transferTimeoutMs),
      callsMax_(callsMax),
      routes_(settings),
      todo_(callsMax) {}

void SimMover::move(const ascend::Place& place, ascend::Direction direction, std::vector<ascend::Piece> pieces,
                    ascend::Ended ended) {
  const ascend::TransferId id = ++lastId_;
  waiters_.emplace(id, std::move(ended));
  routes_.submit(now_, {id, place, direction, std::move(pieces), now_ + patienceMs_});
  settle();
}

void SimMover::forget(const std::string& endpoint) {
  routes_.forget(now_, endpoint);
  settle();
}

/// CANN's engine ends with the process, and what it was asked for with it.
void SimMover::shutDown() {
  waiters_.clear();
  open_.clear();
}

void SimMover::tick() {
  routes_.tick(now_);
  settle();
}

std::optional<SimMover::Call> SimMover::next() {
  while (open_.size() < callsMax_) {
    std::optional<ascend::Action> action = todo_.next(routes_.isHeld());
    if (!action) return std::nullopt;
    const auto* transfer = std::get_if<ascend::Transfer>(&*action);
    if (transfer != nullptr && routes_.isLost(transfer->endpoint)) {
      routes_.transferred(now_, transfer->id, ascend::kTransportFailed);
      settle();
    } else if (transfer != nullptr && transfer->deadline <= now_) {
      routes_.expired(now_, transfer->id);
      settle();
    } else {
      open_.emplace(++lastCall_, *action);
      return Call{lastCall_, std::move(*action)};
    }
  }
  return std::nullopt;
}

void SimMover::answered(uint64_t call, ascend::TransportStatus status) {
  const ascend::Action action = std::move(open_.extract(call).mapped());
  if (const auto* connect = std::get_if<ascend::Connect>(&action)) {
    routes_.connected(now_, connect->endpoint, status);
  } else if (const auto* disconnect = std::get_if<ascend::Disconnect>(&action)) {
    todo_.ended();
    routes_.disconnected(now_, disconnect->endpoint, status);
  } else if (const auto* transfer = std::get_if<ascend::Transfer>(&action)) {
    routes_.transferred(now_, transfer->id, status);
  }
  settle();
}

void SimMover::settle() {
  for (ascend::Action& action : routes_.takeActions()) {
    if (const auto* finish = std::get_if<ascend::Finish>(&action)) {
      waiters_.extract(finish->id).mapped()(finish->status);
    } else {
      todo_.push(std::move(action));
    }
  }
  const ascend::Disconnect* yielding = todo_.yielding();
  if (yielding != nullptr && routes_.isAwaited(yielding->endpoint)) todo_.promote();
}

// ---- the shell of the node ----

node::AscendSource SimCann::sourceOf(const Terms& terms, SimMover*& mover) {
  auto owned = std::make_unique<SimMover>(terms.routes, terms.callsMax);
  mover = owned.get();
  return {std::move(owned), terms.staging, terms.ofTier};
}

SimCann::SimCann(const Terms& terms, std::span<uint8_t> segment, node::NodeCore& core)
    : core_(core), tierStaging_(terms.ofTier), links_(sourceOf(terms, owned_), segment, *this, [] {}), mover_(*owned_) {
  setLogLevel(LogLevel::Error);  // many transfers fail here
}

SimCann::~SimCann() {
  isOver_ = true;
}

void SimCann::disconnect(node::ConnectionId connection) {
  links_.disconnect(connection);
  tierStaging_.leave(connection);
}

void SimCann::work() {
  answerStaging();
  while (!links_.settled())
    links_.work(0);
}

void SimCann::answerStaging() {
  for (const node::TierStaging::Answer& answer : tierStaging_.takeAnswers())
    core_.stagingTaken(answer.transfer, answer.good);
}

void SimCann::onRemoteConnected(node::ConnectionId connection, const Status& outcome) {
  core_.remoteConnected(connection, outcome);
}

void SimCann::onPulled(uint64_t transfer, bool good, uint32_t computed) {
  if (isOver_) return;
  moved_.push_back(transfer);
  core_.pulled(transfer, good, computed);
}

void SimCann::onPushed(uint64_t transfer, bool good) {
  if (isOver_) return;
  moved_.push_back(transfer);
  tierStaging_.release(transfer);
  core_.pushed(transfer, good);
  answerStaging();
}

void SimCann::onRemoteLost(node::ConnectionId connection, const std::string& why) {
  lost_.push_back({connection, "what reaches its memory lost it: " + why});
}

}  // namespace kvpool::sim
