// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/routes.h"

#include <algorithm>
#include <limits>

#include "ascend/core/statuses.h"

namespace kvpool::ascend {
namespace {

/// Between two attempts to end a channel that CANN keeps, each twice the one before. One takes a thread for a second.
constexpr Time kRestMinMs = 1000;
constexpr Time kRestMaxMs = 300000;
/// After that time one channel more than CANN had when it refused another one is tried.
constexpr Time kBelievedMs = 1000;

}  // namespace

void Routes::submit(Time now, Wanted wanted) {
  const TransferId id = wanted.id;
  transfers_.emplace(id, Pending{std::move(wanted)});
  if (closed_) return finish(id, {KV_CLOSED, "the Ascend transport is closed"});
  queue(now, id);
}

void Routes::queue(Time now, TransferId id) {
  const Routed route = routeTo(transfers_.at(id).wanted.place.endpoint);
  route->second.waiting.push_back(id);
  route->second.forgotten = false;
  advance(now, route);
}

Routes::Routed Routes::routeTo(const std::string& endpoint) {
  const auto [route, isNew] = routes_.try_emplace(endpoint);
  if (const auto kept = kept_.extract(endpoint); isNew && kept) {
    route->second.kept = true;
    route->second.rest = kept.mapped().rest;
  }
  return route;
}

void Routes::drop(Time now, Routed found) {
  if (found->second.kept && !closed_)
    kept_.insert_or_assign(found->first, Kept{now + found->second.rest, found->second.rest});
  routes_.erase(found);
  if (kept_.size() <= std::max<size_t>(settings_.channelsMax / 2, 1)) return;
  kept_.erase(std::ranges::max_element(kept_, {}, [](const auto& entry) { return entry.second.rest; }));
}

void Routes::askForKept(Time now) {
  if (yielding_ > 0 || holds_ > 0 || closed_ || kept_.empty()) return;
  const auto first = std::ranges::min_element(kept_, {}, [](const auto& entry) { return entry.second.next; });
  if (first->second.next > now) return;
  const std::string endpoint = first->first;
  (void)endInTurn(routeTo(endpoint));
}

void Routes::connected(Time now, const std::string& endpoint, TransportStatus status) {
  const Routed found = routes_.find(endpoint);
  if (found == routes_.end()) return;
  Route& route = found->second;
  if (status == kTransportOk) {
    route.state = holds_ > 0 || closed_ ? State::Ending : State::Ready;
    route.renewed = false;
    route.kept = false;
    route.rest = 0;
    fits();
  } else if (status == kAlreadyConnected && !route.renewed) {
    // A channel to an earlier life of the peer, or one that could not be ended: it knows that life's memory.
    route.renewed = true;
    route.state = State::Ending;
    ++counters_.renewals;
  } else {
    route.state = State::None;
    route.renewed = false;
    route.kept = route.kept || status == kAlreadyConnected;
    const bool isFull = status == kResourceExhausted && !closed_;
    std::deque<TransferId> fail;
    for (const TransferId id : std::exchange(route.waiting, {})) {
      const auto pending = transfers_.find(id);
      if (pending == transfers_.end()) continue;
      const bool mayWait = isFull && !std::exchange(pending->second.refused, true);
      (mayWait ? route.waiting : fail).push_back(id);
    }
    if (!route.waiting.empty() && !awaitRoom(now, route)) {
      fail.insert(fail.end(), route.waiting.begin(), route.waiting.end());
      route.waiting.clear();
    }
    counters_.retries += route.waiting.size();
    const std::string why =
        endpoint + " cannot be connected: " + toString(status) + (isFull ? ", " + lackOfRoom() : "");
    for (const TransferId id : fail)
      finish(id, {KV_CONNECT_FAILED, why});
  }
  advanceAll(now);
}

void Routes::disconnected(Time now, const std::string& endpoint, TransportStatus status) {
  const Routed found = routes_.find(endpoint);
  if (found == routes_.end()) return;
  Route& route = found->second;
  // A peer that cannot be told of the end leaves the channel with CANN, which is asked again later.
  route.kept = status != kTransportOk && status != kNotConnected;
  route.rest = route.kept ? std::clamp(2 * route.rest, kRestMinMs, kRestMaxMs) : 0;
  if (std::exchange(route.yields, false)) --yielding_;
  route.asked = false;
  route.state = State::None;
  if (route.waiting.empty()) route.forgotten = false;
  settleBroken(now, route);
  advanceAll(now);
}

void Routes::settleBroken(Time now, Route& route) {
  for (Broken broken : std::exchange(route.broken, {})) {
    // A failure is the card's own, behind which nothing moves, or a peer's that is gone.
    if (!route.kept || closed_ || broken.status != kTransportTimeout) {
      conclude(broken.id, broken.status);
      continue;
    }
    broken.until = now + settings_.cardRepeatsMs;
    route.held.push_back(broken);
  }
  if (!route.kept) release(std::numeric_limits<Time>::max(), route);
}

bool Routes::release(Time now, Route& route) {
  const auto given =
      std::stable_partition(route.held.begin(), route.held.end(), [&](const Broken& held) { return held.until > now; });
  const std::vector<Broken> over(given, route.held.end());
  route.held.erase(given, route.held.end());
  for (const Broken& broken : over)
    conclude(broken.id, broken.status);
  return !over.empty();
}

void Routes::transferred(Time now, TransferId id, TransportStatus status) {
  Route& route = ended(id);
  if (status == kTransportOk && !std::exchange(route.reached, true) && settings_.connectsByItself) {
    route.kept = false;
    route.rest = 0;
    fits();
  }
  if (status == kResourceExhausted && settings_.connectsByItself && !route.reached) {
    // There is no room for the channel that the transfer was to make.
    route.state = route.underWay == 0 && route.broken.empty() ? State::None : State::Ending;
    Pending& pending = transfers_.at(id);
    if (!closed_ && !std::exchange(pending.refused, true) && awaitRoom(now, route)) {
      pending.underWay = false;
      ++counters_.retries;
      route.waiting.push_front(id);
    } else {
      conclude(id, status);
    }
  } else if (!breaksChannel(status)) {
    conclude(id, status);
    endIfShort(route);
  } else {
    // Where CANN connects by itself it has mostly ended the channel. Of a timeout it may know nothing, where the peer
    // could not be told it has kept the channel, and others that are under way may have had it made again.
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
  const std::string why = "a transfer with " + pending.wanted.place.endpoint + " ended with " + toString(status) +
                          (pending.refused && status == kResourceExhausted ? ", " + lackOfRoom() : "") +
                          (status == kTransportFailed || status == kUnsupported ? settings_.failureHint : "");
  if (status == kTransportOk) return finish(id, {});
  const int32_t code = status == kTransportTimeout ? KV_TIMEOUT : closed_ ? KV_CLOSED : KV_TRANSFER_FAILED;
  finish(id, {code, why});
}

void Routes::tick(Time now) {
  std::vector<TransferId> late;
  for (const auto& [id, pending] : transfers_) {
    if (!pending.underWay && pending.wanted.deadline <= now) late.push_back(id);
  }
  for (const TransferId id : late) {
    const Route& route = routes_.at(transfers_.at(id).wanted.place.endpoint);
    const bool lacksRoom = wantsChannel(route);
    finish(id, {KV_TIMEOUT, lacksRoom ? "the time of the transfer ended while it waited for a channel, " + lackOfRoom()
                                      : "the time of the transfer ended before its channel was there"});
  }
  bool released = false;
  for (auto& [endpoint, route] : routes_)
    released = release(now, route) || released;
  if (released || !late.empty() || fitting_ != SIZE_MAX) advanceAll(now);
  askForKept(now);
}

void Routes::forget(Time now, const std::string& endpoint) {
  const Routed found = routes_.find(endpoint);
  if (found == routes_.end()) return;
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
  return isHeld() || anyWaits_ || (found != routes_.end() && !found->second.waiting.empty());
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
    // What is held ends with CANN's engine, at once.
    release(std::numeric_limits<Time>::max(), route);
  }
  advanceAll(0);
}

void Routes::advance(Time now, Routed found) {
  Route& route = found->second;
  forgetEnded(route);
  const bool idle = route.underWay == 0 && route.waiting.empty();
  if (route.state == State::Ready && !knowsMemory(route)) {
    route.state = State::Ending;
    ++counters_.renewals;
  }
  if (route.state == State::Ready && idle && route.forgotten) (void)endInTurn(found);
  if (route.state == State::Ending && route.underWay == 0 && !route.asked) end(found);
  if (wantsChannel(route)) connectOrWait(now, found);
  if (route.state == State::Ready) beginWaiting(now, found);
  anyWaits_ = anyWaits_ || wantsChannel(route);
  if (route.state == State::None && idle && route.held.empty()) drop(now, found);
}

void Routes::forgetEnded(Route& route) const {
  std::erase_if(route.waiting, [this](TransferId id) { return !transfers_.contains(id); });
}

void Routes::advanceAll(Time now) {
  for (auto& [endpoint, route] : routes_)
    forgetEnded(route);
  // What one route does may be what another one that came before it waits for.
  for (size_t before = SIZE_MAX; before != actions_.size();) {
    before = actions_.size();
    for (Routed route = routes_.begin(); route != routes_.end();)
      advance(now, route++);
  }
  anyWaits_ = std::ranges::any_of(routes_, [this](const auto& entry) { return wantsChannel(entry.second); });
  if (!anyWaits_) fitting_ = SIZE_MAX;  // what CANN said may be long ago when the next one is wanted
}

bool Routes::wantsChannel(const Route& route) const {
  return route.state == State::None && !route.waiting.empty() && route.underWay == 0 && holds_ == 0;
}

/// Those that wait longer come first, so that none waits for ever beside others that come and go.
void Routes::connectOrWait(Time now, Routed found) {
  Route& route = found->second;
  // Once, whatever comes of it.
  if (route.kept && !std::exchange(route.renewed, true)) {
    ++counters_.renewals;
    return end(found);
  }
  const TransferId first = route.waiting.front();
  size_t needed = channels() + (route.kept ? 0 : 1);
  size_t ending = 0;
  bool isAlone = true;
  for (const auto& [endpoint, other] : routes_) {
    if (wantsChannel(other) && other.waiting.front() < first) ++needed;
    if (givesRoom(other)) ++ending;
    if (other.state != State::None || (wantsChannel(other) && other.waiting.front() < first)) isAlone = false;
  }
  const size_t fit = fitting(now, transfers_.at(first).refused);
  // What CANN keeps may stay for ever.
  if (needed <= fit || isAlone) return connect(found);
  if (needed <= fit + ending) return;
  askForKept(now);
  (void)endLeastUsed();
}

bool Routes::givesRoom(const Route& route) {
  return route.state == State::Ending && route.waiting.empty() && !route.kept;
}

size_t Routes::fitting(Time now, bool refused) const {
  if (fitting_ == SIZE_MAX) return settings_.channelsMax;
  const auto more = static_cast<size_t>(refused ? 0 : std::max<Time>(now - refusedAt_, 0) / kBelievedMs);
  return std::min(settings_.channelsMax, fitting_ + more);
}

void Routes::fits() {
  if (fitting_ == SIZE_MAX) return;
  const auto made = std::ranges::count_if(routes_, [this](const auto& entry) {
    return entry.second.state == State::Ready && (entry.second.reached || !settings_.connectsByItself);
  });
  fitting_ = std::max(fitting_, static_cast<size_t>(made));
}

void Routes::connect(Routed found) {
  auto& [endpoint, route] = *found;
  route.reached = false;
  route.peerRegistrations = 0;  // it may have restarted since the channel before, and counts from the beginning again
  for (const TransferId id : route.waiting)
    route.peerRegistrations = std::max(route.peerRegistrations, transfers_.at(id).wanted.place.registrations);
  route.ourRegistrations = registrations_;
  ++counters_.connects;
  if (settings_.connectsByItself) {
    route.renewed = false;
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
  return kept_.size() + static_cast<size_t>(std::ranges::count_if(routes_, [](const auto& entry) {
           return entry.second.state != State::None || entry.second.kept;
         }));
}

size_t Routes::keptChannels() const {
  return kept_.size() +
         static_cast<size_t>(std::ranges::count_if(routes_, [](const auto& entry) { return entry.second.kept; }));
}

RouteCounters Routes::counters() const {
  RouteCounters now = counters_;
  now.channels = channels();
  now.channelsKept = keptChannels();
  now.channelsMax = settings_.channelsMax;
  return now;
}

bool Routes::awaitRoom(Time now, const Route& refused) {
  const size_t had = channels() - (refused.state == State::None ? 0 : 1);
  const bool ends =
      std::ranges::any_of(routes_,
                          [&](const auto& entry) { return &entry.second != &refused && givesRoom(entry.second); }) ||
      endLeastUsed();
  askForKept(now);  // it may be there for the next attempt
  if (!ends) return false;
  fitting_ = had;
  refusedAt_ = now;
  return true;
}

std::string Routes::lackOfRoom() const {
  const size_t kept = keptChannels();
  return "as there are " + std::to_string(channels()) + " of at most " + std::to_string(settings_.channelsMax) +
         " channels, " + std::to_string(kept) +
         " of them to peers that are gone. Let fewer processes transfer with this one at a time" +
         (settings_.channelsMax < RouteSettings().channelsMax
              ? ", or raise max_active_channels in ASCEND_GLOBAL_RESOURCE_CONFIG"
              : "") +
         (kept > 0 ? "; a restart of this process gives the room of those that are gone back" : "");
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
  end(least, true);
  return true;
}

void Routes::end(Routed found, bool makesRoom) {
  found->second.state = State::Ending;
  found->second.asked = true;
  ++counters_.disconnects;
  actions_.emplace_back(Disconnect{found->first, found->second.yields, makesRoom});
}

bool Routes::endInTurn(Routed found) {
  if (yielding_ > 0) return false;
  ++yielding_;
  found->second.yields = true;
  end(found);
  return true;
}

void Routes::finish(TransferId id, Status status) {
  ++(status.ok() ? counters_.transfers : counters_.failures);
  if (status.code() == KV_TIMEOUT) ++counters_.timeouts;
  transfers_.erase(id);
  actions_.emplace_back(Finish{id, std::move(status)});
}

}  // namespace kvpool::ascend
