// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/routes.h"

#include <algorithm>

#include "ascend/core/statuses.h"

namespace kvpool::ascend {

void Routes::submit(Time now, Wanted wanted) {
  const TransferId id = wanted.id;
  transfers_.emplace(id, Pending{std::move(wanted)});
  ++counters_.transfers;
  if (closed_) return finish(id, {KV_CLOSED, "the Ascend transport is closed"});
  queue(now, id);
}

void Routes::queue(Time now, TransferId id) {
  const Routed route = routes_.try_emplace(transfers_.at(id).wanted.place.endpoint).first;
  route->second.waiting.push_back(id);
  route->second.forgotten = false;
  advance(now, route);
}

void Routes::connected(Time now, const std::string& endpoint, TransportStatus status) {
  const Routed found = routes_.find(endpoint);
  if (found == routes_.end()) return;
  Route& route = found->second;
  if (status == kTransportOk) {
    route.state = holds_ > 0 || closed_ ? State::Ending : State::Ready;
    route.renewed = false;
  } else if (status == kAlreadyConnected && !route.renewed) {
    // A channel to an earlier life of the peer, or one that could not be ended: it knows that life's memory.
    route.renewed = true;
    route.state = State::Ending;
  } else {
    route.state = State::None;
    route.renewed = false;
    const bool waits = status == kResourceExhausted && !closed_ && awaitRoom();
    for (const TransferId id : waits ? std::deque<TransferId>() : std::exchange(route.waiting, {}))
      if (transfers_.contains(id))
        finish(id, {KV_CONNECT_FAILED, endpoint + " cannot be connected: " + toString(status)});
  }
  advanceAll(now);
}

void Routes::disconnected(Time now, const std::string& endpoint, TransportStatus status) {
  const Routed found = routes_.find(endpoint);
  if (found == routes_.end()) return;
  Route& route = found->second;
  // A peer that cannot be told of the end leaves the channel with CANN; the next connection finds it and ends it again.
  if (status != kTransportOk && status != kNotConnected) {
    ++counters_.stuckChannels;
    if (settings_.connectsByItself && route.waiting.empty()) suspects_.insert(endpoint);
  }
  if (std::exchange(route.yields, false)) --yielding_;
  route.asked = false;
  route.state = State::None;
  if (route.waiting.empty()) route.forgotten = false;
  for (const Broken& broken : std::exchange(route.broken, {}))
    conclude(broken.id, broken.status);
  advanceAll(now);
}

void Routes::transferred(Time now, TransferId id, TransportStatus status) {
  Route& route = ended(id);
  if (status == kTransportOk) route.reached = true;
  if (status == kResourceExhausted && settings_.connectsByItself && !route.reached) {
    // There is no room for the channel that the transfer was to make.
    route.state = route.underWay == 0 && route.broken.empty() ? State::None : State::Ending;
    if (!closed_ && awaitRoom()) {
      transfers_.at(id).underWay = false;
      route.waiting.push_front(id);
    } else {
      conclude(id, status);
    }
  } else if (!breaksChannel(status)) {
    conclude(id, status);
    endIfShort(route);
  } else if (settings_.connectsByItself && status != kTransportTimeout) {
    // CANN has ended the channel. Others that are under way may have it made again, without memory that comes later.
    // Where the peer could not be told, CANN has kept it: no transfer by it succeeds any more.
    suspects_.insert(transfers_.at(id).wanted.place.endpoint);
    route.state = route.underWay == 0 && route.broken.empty() ? State::None : State::Ending;
    conclude(id, status);
  } else {
    // Of a timeout CANN itself may know nothing.
    route.broken.push_back({id, status});
    route.state = State::Ending;
  }
  advanceAll(now);
}

void Routes::expired(Time now, TransferId id) {
  Route& route = ended(id);
  finish(id, {KV_TIMEOUT, "the time of the transfer ended while it waited for a thread of the transport"});
  endIfShort(route);
  advanceAll(now);
}

Routes::Route& Routes::ended(TransferId id) {
  Route& route = routes_.at(transfers_.at(id).wanted.place.endpoint);
  --route.underWay;
  --underWay_;
  return route;
}

void Routes::endIfShort(Route& route) {
  if (settings_.shortConnections && route.state == State::Ready && route.underWay == 0 && route.waiting.empty())
    route.state = State::Ending;
}

void Routes::conclude(TransferId id, TransportStatus status) {
  const Pending& pending = transfers_.at(id);
  const std::string why = "a transfer with " + pending.wanted.place.endpoint + " ended with " + toString(status);
  if (status == kTransportOk) return finish(id, {});
  const int32_t code = status == kTransportTimeout ? KV_TIMEOUT : closed_ ? KV_CLOSED : KV_TRANSFER_FAILED;
  finish(id, {code, why});
}

void Routes::tick(Time now) {
  std::vector<TransferId> late;
  for (const auto& [id, pending] : transfers_) {
    if (!pending.underWay && pending.wanted.deadline <= now) late.push_back(id);
  }
  for (const TransferId id : late)
    finish(id, {KV_TIMEOUT, "the time of the transfer ended before its channel was there"});
  if (!late.empty()) advanceAll(now);
}

void Routes::forget(Time now, const std::string& endpoint) {
  const Routed found = routes_.try_emplace(endpoint).first;
  found->second.forgotten = true;
  advance(now, found);
}

void Routes::hold(Time now) {
  ++holds_;
  for (auto& [endpoint, route] : routes_) {
    if (route.state == State::Ready) route.state = State::Ending;
  }
  advanceAll(now);
}

void Routes::resume(Time now) {
  --holds_;
  advanceAll(now);
}

bool Routes::hasChannels() const {
  return std::ranges::any_of(routes_, [](const auto& entry) { return entry.second.state != State::None; });
}

bool Routes::isLost(const std::string& endpoint) const {
  const auto found = routes_.find(endpoint);
  return closed_ || (found != routes_.end() && !found->second.broken.empty());
}

bool Routes::isAwaited(const std::string& endpoint) const {
  const auto found = routes_.find(endpoint);
  return closed_ || holds_ > 0 || (found != routes_.end() && !found->second.waiting.empty()) ||
         std::ranges::any_of(routes_, [this](const auto& entry) { return wantsChannel(entry.second); });
}

void Routes::shutDown() {
  closed_ = true;
  std::vector<TransferId> waiting;
  for (const auto& [id, pending] : transfers_) {
    if (!pending.underWay) waiting.push_back(id);
  }
  for (const TransferId id : waiting)
    finish(id, {KV_CLOSED, "the Ascend transport is closed"});
  for (auto& [endpoint, route] : routes_) {
    route.waiting.clear();
    if (route.state == State::Ready) route.state = State::Ending;
  }
  advanceAll(0);
}

void Routes::advance(Time now, Routed found) {
  auto& [endpoint, route] = *found;
  std::erase_if(route.waiting, [this](TransferId id) { return !transfers_.contains(id); });
  const bool idle = route.underWay == 0 && route.waiting.empty();
  if (route.state == State::Ready && !knowsMemory(route)) route.state = State::Ending;
  if (route.state == State::Ready && idle && route.forgotten) (void)endInTurn(found);
  if (route.state == State::Ending && route.underWay == 0 && !route.asked) end(found);
  if (wantsChannel(route)) connectOrWait(found);
  if (route.state == State::Ready) beginWaiting(now, found);
  if (route.state != State::None || !route.waiting.empty() || route.underWay > 0) return;
  if (route.forgotten && suspects_.contains(endpoint)) {
    if (endInTurn(found)) suspects_.erase(endpoint);
    return;
  }
  routes_.erase(found);
}

void Routes::advanceAll(Time now) {
  for (Routed route = routes_.begin(); route != routes_.end();)
    advance(now, route++);
  const bool anyWaits = std::ranges::any_of(routes_, [this](const auto& entry) { return wantsChannel(entry.second); });
  if (!anyWaits) fitting_ = SIZE_MAX;  // what CANN said may be long ago when the next one is wanted
}

bool Routes::wantsChannel(const Route& route) const {
  return route.state == State::None && !route.waiting.empty() && route.underWay == 0 && holds_ == 0;
}

/// Those that wait longer come first, so that none waits for ever beside others that come and go.
void Routes::connectOrWait(Routed found) {
  const TransferId first = found->second.waiting.front();
  size_t needed = channels() + 1;
  size_t ending = 0;
  for (const auto& [endpoint, other] : routes_) {
    if (wantsChannel(other) && other.waiting.front() < first) ++needed;
    if (other.state == State::Ending && other.waiting.empty()) ++ending;
  }
  const size_t fitting = std::min(settings_.channelsMax, fitting_);
  if (needed <= fitting) return connect(found);
  if (needed > fitting + ending) (void)endLeastUsed();
}

void Routes::connect(Routed found) {
  auto& [endpoint, route] = *found;
  route.reached = false;
  route.peerRegistrations = 0;  // it may have restarted since the channel before, and counts from the beginning again
  for (const TransferId id : route.waiting)
    route.peerRegistrations = std::max(route.peerRegistrations, transfers_.at(id).wanted.place.registrations);
  route.ourRegistrations = registrations_;
  if (settings_.connectsByItself && suspects_.erase(endpoint) > 0) return end(found);
  ++counters_.connects;
  if (settings_.connectsByItself) {
    route.state = State::Ready;
    return;
  }
  route.state = State::Connecting;
  actions_.emplace_back(Connect{endpoint, settings_.connectTimeoutMs});
}

bool Routes::knowsMemory(const Route& route) const {
  return route.waiting.empty() ||
         (route.ourRegistrations == registrations_ && std::ranges::all_of(route.waiting, [&](TransferId id) {
            return transfers_.at(id).wanted.place.registrations <= route.peerRegistrations;
          }));
}

void Routes::beginWaiting(Time now, Routed found) {
  Route& route = found->second;
  while (!route.waiting.empty() && underWay_ < settings_.underWayMax) {
    const TransferId id = route.waiting.front();
    route.waiting.pop_front();
    begin(now, found, transfers_.at(id));
  }
}

void Routes::begin(Time now, Routed found, Pending& pending) {
  const Wanted& wanted = pending.wanted;
  if (wanted.deadline <= now) return finish(wanted.id, {KV_TIMEOUT, "the time of the transfer ended before it began"});
  const Time left = std::min<Time>(wanted.deadline - now, settings_.transferTimeoutMs);
  pending.underWay = true;
  ++underWay_;
  ++found->second.underWay;
  found->second.use = ++uses_;
  actions_.emplace_back(
      Transfer{wanted.id, found->first, wanted.direction, wanted.pieces, static_cast<int32_t>(left), wanted.deadline});
}

size_t Routes::channels() const {
  return static_cast<size_t>(
      std::ranges::count_if(routes_, [](const auto& entry) { return entry.second.state != State::None; }));
}

bool Routes::awaitRoom() {
  const bool ends = endLeastUsed() ||
                    std::ranges::any_of(routes_, [](const auto& entry) { return entry.second.state == State::Ending; });
  fitting_ = ends ? channels() : SIZE_MAX;
  return ends;
}

bool Routes::endLeastUsed() {
  Routed least = routes_.end();
  for (Routed route = routes_.begin(); route != routes_.end(); ++route) {
    const bool unused =
        route->second.state == State::Ready && route->second.underWay == 0 && route->second.waiting.empty();
    const auto worth = [](const Route& one) { return std::pair(!one.forgotten, one.use); };
    if (unused && (least == routes_.end() || worth(route->second) < worth(least->second))) least = route;
  }
  if (least == routes_.end()) return false;
  ++counters_.roomMade;
  end(least);
  return true;
}

void Routes::end(Routed found) {
  found->second.state = State::Ending;
  found->second.asked = true;
  actions_.emplace_back(Disconnect{found->first, found->second.yields});
}

bool Routes::endInTurn(Routed found) {
  if (yielding_ > 0) return false;
  ++yielding_;
  found->second.yields = true;
  end(found);
  return true;
}

void Routes::finish(TransferId id, Status status) {
  if (!status.ok()) ++counters_.failures;
  if (status.code() == KV_TIMEOUT) ++counters_.timeouts;
  transfers_.erase(id);
  actions_.emplace_back(Finish{id, std::move(status)});
}

}  // namespace kvpool::ascend
