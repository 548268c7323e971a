// SPDX-License-Identifier: Apache-2.0
#include "client/core/leader_search.h"

#include <algorithm>
#include <utility>

#include "client/core/requests.h"
#include "wire/frame.h"

namespace kvpool::client {
namespace {

/// The shell names the address it tried; when that is the one of the configuration, once is enough.
std::string reason(const std::string& address, const Status& why) {
  return why.text().rfind(address, 0) == 0 ? why.text() : address + ": " + why.text();
}

}  // namespace

LeaderSearch::LeaderSearch(Context& context)
    : context_(context),
      firstStandby_(context.config.standbys == 0 ? 0 : context.random(context.config.masters.size())) {
  for (const std::string& address : context.config.masters) {
    Master& master = masters_.emplace_back();
    master.address = address;
    master.why = Status(KV_CONNECT_FAILED, "not tried yet");
  }
}

std::optional<ConnectionId> LeaderSearch::leader() const {
  for (const Master& master : masters_) {
    if (master.stage == Stage::Serving) return master.connection;
  }
  return std::nullopt;
}

bool LeaderSearch::owns(ConnectionId connection) const {
  return std::any_of(masters_.begin(), masters_.end(), [&](const Master& master) {
    return master.stage != Stage::Away && master.connection == connection;
  });
}

Status LeaderSearch::whyNone() const {
  // A recovering leader says more than a standby, and both say more than a master that could not be reached.
  constexpr int32_t kMostTelling[] = {KV_VERSION_MISMATCH, KV_IDENTITY_MISMATCH, KV_RECOVERING, KV_NOT_LEADER};
  int32_t code = KV_CONNECT_FAILED;
  for (int32_t candidate : kMostTelling) {
    const bool said = std::any_of(masters_.begin(), masters_.end(),
                                  [&](const Master& master) { return master.why.code() == candidate; });
    if (said) {
      code = candidate;
      break;
    }
  }
  std::string sentence = "no serving leader: ";
  size_t absent = 0;
  bool first = true;
  for (const Master& master : masters_) {
    if (isAbsent(master)) {
      ++absent;
      continue;
    }
    if (!first) sentence += "; ";
    first = false;
    sentence += reason(master.address, master.why);
  }
  if (absent > 0) sentence += "; " + std::to_string(absent) + " more names have no address";
  return {code, sentence};
}

bool LeaderSearch::hopeless() const {
  return std::all_of(masters_.begin(), masters_.end(), [](const Master& master) {
    return master.why.code() == KV_VERSION_MISMATCH || master.why.code() == KV_IDENTITY_MISMATCH;
  });
}

LeaderSearch::Master* LeaderSearch::find(ConnectionId connection) {
  for (Master& master : masters_) {
    if (master.stage != Stage::Away && master.connection == connection) return &master;
  }
  return nullptr;
}

void LeaderSearch::dial(Master& master) {
  master.connection = context_.newConnection();
  master.stage = Stage::Dialing;
  master.since = context_.now;
  context_.act(Dial{master.connection, Transport::Tcp, master.address, {}, false});
}

void LeaderSearch::ask(Master& master) {
  master.question = context_.newRequest();
  master.stage = Stage::Asked;
  master.since = context_.now;
  master.lastSent = context_.now;
  context_.act(SendFrame{master.connection, existsRequest(master.question, {})});
}

void LeaderSearch::fail(Master& master, Status why) {
  const bool wasLeader = master.stage == Stage::Serving;
  const bool matters = wasLeader || serving() == nullptr || inDoubt();
  if (wasLeader) renewBy_.reset();
  master.stage = Stage::Away;
  master.why = std::move(why);
  if (wasLeader) leaderLost(master);
  waitForNextTry(master);
  master.nextStandby = context_.now + context_.backoffMs(master.failures++, kStandbyRedialMs, kStandbyRedialLongestMs);
  if (matters) context_.explain(reason(master.address, master.why));
}

/// Another one follows soon: every master is asked at once. One that only claimed to lead changes nothing, or it would
/// be asked without end.
void LeaderSearch::leaderLost(Master& lost) {
  context_.statistics.leaderKnown = false;
  const bool led = lost.attempts == 0 || context_.now - lost.since >= kTakeoverMs;
  if (!led) return;
  lostAt_ = context_.now;
  for (Master& master : masters_) {
    if (isAbsent(master)) continue;  // asked for when it is due: one that came meanwhile is due at once
    master.nextTry = context_.now;
    master.attempts = 0;
  }
}

bool LeaderSearch::isAbsent(const Master& master) const {
  return master.unknown && !master.known &&
         std::any_of(masters_.begin(), masters_.end(), [](const Master& other) { return other.known; });
}

void LeaderSearch::waitForNextTry(Master& master) {
  const bool takeover = found_ && context_.now - lostAt_ < kTakeoverMs;
  if (takeover && master.stage == Stage::Away && std::any_of(masters_.begin(), masters_.end(), &isWelcomed)) {
    // Another can be asked, and says that it leads when it does. To dial the one that is lost as well would cost many
    // clients the time that the takeover takes.
    master.nextTry = context_.now + context_.backoffMs(master.attempts, kTakeoverLongestMs, kRetryLongestMs);
  } else {
    master.nextTry =
        context_.now + (takeover ? context_.backoffMs(master.attempts, kTakeoverFirstMs, kTakeoverLongestMs)
                                 : context_.backoffMs(master.attempts));
  }
  ++master.attempts;
}

void LeaderSearch::rest(Master& master, Status why) {
  master.stage = Stage::Resting;
  master.why = std::move(why);
  waitForNextTry(master);
}

void LeaderSearch::opened(ConnectionId connection) {
  Master* master = find(connection);
  if (master == nullptr || master->stage != Stage::Dialing) return;
  master->known = true;
  master->unknown = false;
  master->stage = Stage::Greeting;
  master->since = master->lastHeard = master->lastSent = context_.now;
  master->hello = wire::Hello{};
  master->hello.self = context_.config.me;
  master->hello.self.poolId = pool_;
  context_.act(SendFrame{connection, wire::framed(wire::appendHello, master->hello)});
}

void LeaderSearch::closed(ConnectionId connection, const std::string& reason) {
  Master* master = find(connection);
  if (master == nullptr) return;
  master->known = true;
  master->unknown = false;
  fail(*master, Status(KV_CONNECT_FAILED, reason));
}

void LeaderSearch::nameUnknown(ConnectionId connection, const std::string& reason) {
  Master* master = find(connection);
  if (master == nullptr) return;
  master->unknown = true;
  fail(*master, Status(KV_CONNECT_FAILED, reason));
  if (isAbsent(*master)) master->nextTry = context_.now + kUnknownNameMs;
}

bool LeaderSearch::replied(ConnectionId connection, const Reply& reply) {
  Master* master = find(connection);
  if (master == nullptr || std::holds_alternative<Heartbeat>(reply)) return true;
  if (master->stage == Stage::Greeting) {
    if (const auto* welcome = std::get_if<wire::Welcome>(&reply)) {
      welcomed(*master, *welcome);
    } else if (const auto* refused = std::get_if<wire::Refused>(&reply)) {
      drop(connection, wire::refusalStatus(*refused, "the master"));
    } else {
      drop(connection, Status(KV_PROTOCOL, "answered the greeting with something else"));
    }
    return true;
  }
  const auto* keys = std::get_if<KeysReply>(&reply);
  if (master->stage == Stage::Asked && keys != nullptr && keys->request == master->question) {
    answered(*master, keys->status);
    return true;
  }
  return master->stage != Stage::Serving;  // late answers to requests of a former leader are for nobody
}

void LeaderSearch::welcomed(Master& master, const wire::Welcome& welcome) {
  Status fits = wire::judgeWelcome(welcome, wire::Role::Master, master.hello);
  if (!fits.ok()) return drop(master.connection, std::move(fits));
  if (pool_.isAny()) {
    pool_ = welcome.self.poolId;
  } else if (welcome.self.poolId != pool_) {
    return drop(master.connection, Status(KV_IDENTITY_MISMATCH, "belongs to pool " + toString(welcome.self.poolId) +
                                                                    ", the other masters to pool " + toString(pool_)));
  }
  master.name = welcome.self.name;
  ask(master);
}

void LeaderSearch::answered(Master& master, int32_t status) {
  master.failures = 0;
  if (status != KV_OK) {
    const char* text = status == KV_NOT_LEADER   ? "is a standby"
                       : status == KV_RECOVERING ? "is the leader and still recovers its index"
                                                 : statusText(status);
    return rest(master, Status(status, master.name + " " + text));
  }
  if (Master* other = serving()) {
    if (context_.now - other->lastHeard < kDoubtMs) {
      return rest(master, Status(KV_NOT_LEADER, master.name + " claims to lead as well"));
    }
    drop(other->connection, Status(KV_CONNECT_FAILED, "silent, and " + master.name + " leads"));
  }
  master.stage = Stage::Serving;
  master.since = context_.now;
  master.why = Status();
  if (found_ && std::exchange(renewed_, nullptr) != &master) ++context_.statistics.leaderChanges;
  found_ = true;
  context_.statistics.leaderKnown = true;
  leaveOthers();
}

/// Once one serves, the others are not asked; standbys stay connected.
void LeaderSearch::leaveOthers() {
  // One that is dialled may not be there at all.
  dialStandbys(keepStandbys(keepStandbys(0, true), false));
}

/// Of the others with a connection, those that are welcomed or those that are not: closes what is more than there may
/// be.
size_t LeaderSearch::keepStandbys(size_t kept, bool welcomed) {
  for (size_t i = 0; i < masters_.size(); ++i) {
    Master& other = masters_[(firstStandby_ + i) % masters_.size()];
    if (other.stage == Stage::Serving || other.stage == Stage::Away || isWelcomed(other) != welcomed) continue;
    other.nextTry = context_.now;
    other.attempts = 0;
    if (kept < context_.config.standbys) {
      ++kept;
      continue;
    }
    context_.act(Close{other.connection});
    other.stage = Stage::Away;
  }
  return kept;
}

void LeaderSearch::dialStandbys(size_t kept) {
  for (size_t i = 0; i < masters_.size() && kept < context_.config.standbys; ++i) {
    Master& other = masters_[(firstStandby_ + i) % masters_.size()];
    if (other.stage != Stage::Away || context_.now < other.nextStandby) continue;
    dial(other);
    ++kept;
  }
}

/// It rests beside a leader that serves.
bool LeaderSearch::isStandby(const Master& master) const {
  return master.stage == Stage::Resting && leader() && !inDoubt();
}

void LeaderSearch::send(wire::Bytes frame) {
  for (Master& master : masters_) {
    if (master.stage != Stage::Serving) continue;
    master.lastSent = context_.now;
    context_.act(SendFrame{master.connection, std::move(frame)});
    return;
  }
}

void LeaderSearch::confirm() {
  for (Master& master : masters_) {
    if (master.stage == Stage::Serving) master.attempts = 0;
  }
}

void LeaderSearch::demote(int32_t status) {
  for (Master& master : masters_) {
    if (master.stage != Stage::Serving) continue;
    renewBy_.reset();
    leaderLost(master);
    rest(master, Status(status, master.name + " serves no more: " + statusText(status)));
    context_.explain(reason(master.address, master.why));
    return;
  }
}

void LeaderSearch::drop(ConnectionId connection, Status why) {
  Master* master = find(connection);
  if (master == nullptr) return;
  context_.act(Close{connection});
  fail(*master, std::move(why));
}

void LeaderSearch::renew(ConnectionId connection) {
  Master* master = find(connection);
  if (master == nullptr) return;
  if (master->stage == Stage::Serving) {
    renewBy_ = context_.now + kRenewPauseMs;
    return;
  }
  context_.act(Close{connection});
  master->stage = Stage::Away;
  master->nextTry = context_.now;
}

void LeaderSearch::redial() {
  renewBy_.reset();
  Master* master = serving();
  if (master == nullptr) return;
  context_.act(Close{master->connection});
  context_.statistics.leaderKnown = false;
  renewed_ = master;
  lostAt_ = context_.now;  // should it be gone, its successor is looked for as after any loss
  dial(*master);
}

void LeaderSearch::closeAll() {
  for (Master& master : masters_) {
    if (master.stage != Stage::Away) context_.act(Close{master.connection});
    master.stage = Stage::Away;
  }
}

void LeaderSearch::watch(Master& master) {
  const bool waits = master.stage == Stage::Dialing || master.stage == Stage::Greeting || master.stage == Stage::Asked;
  if (waits && context_.now - master.since >= context_.config.connectTimeoutMs) {
    const char* what = master.stage == Stage::Dialing ? "no connection within " : "no answer within ";
    return drop(master.connection,
                Status(KV_CONNECT_FAILED, what + std::to_string(context_.config.connectTimeoutMs) + " ms"));
  }
  if (!isWelcomed(master)) return;
  if (context_.now - master.lastHeard >= kSilenceMs) {
    return drop(master.connection, Status(KV_CONNECT_FAILED, "silent for " + std::to_string(kSilenceMs) + " ms"));
  }
  const bool isAsked = isDue(master) && master.stage == Stage::Resting;  // at once, which says as much
  if (!isAsked && context_.now - master.lastSent >= (isStandby(master) ? kStandbyHeartbeatMs : kHeartbeatMs)) {
    master.lastSent = context_.now;
    context_.act(SendFrame{master.connection, wire::framed(wire::appendHeartbeat, {})});
  }
}

/// To be dialled or asked, as no other is known to serve.
bool LeaderSearch::isDue(const Master& master) const {
  return context_.now >= master.nextTry && (!leader() || inDoubt());
}

bool LeaderSearch::isWelcomed(const Master& master) {
  return master.stage == Stage::Asked || master.stage == Stage::Resting || master.stage == Stage::Serving;
}

LeaderSearch::Master* LeaderSearch::serving() {
  const auto found = std::find_if(masters_.begin(), masters_.end(),
                                  [](const Master& master) { return master.stage == Stage::Serving; });
  return found == masters_.end() ? nullptr : &*found;
}

bool LeaderSearch::inDoubt() const {
  return std::any_of(masters_.begin(), masters_.end(), [&](const Master& master) {
    return master.stage == Stage::Serving && context_.now - master.lastHeard >= kDoubtMs;
  });
}

void LeaderSearch::tick() {
  if (renewBy_ && context_.now >= *renewBy_) redial();
  for (Master& master : masters_)
    watch(master);
  if (leader() && !inDoubt()) return leaveOthers();
  for (Master& master : masters_) {
    if (!isDue(master)) continue;
    if (master.stage == Stage::Away) dial(master);
    if (master.stage == Stage::Resting) ask(master);
  }
}

}  // namespace kvpool::client
