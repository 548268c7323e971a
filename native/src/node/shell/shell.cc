// SPDX-License-Identifier: Apache-2.0
#include "node/shell/shell.h"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "net/socket.h"
#include "store/staging.h"

namespace kvpool::node {
namespace {

/// Connections taken from a listener in one turn.
constexpr int kAcceptsPerTurn = 64;
/// Rounds of sending in one turn; with more to do the loop looks at its sockets in between.
constexpr int kRoundsPerTurn = 8;

uint64_t monotonicMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

}  // namespace

Shell::Shell(net::EventLoop& loop, NodeCore& core, const NodeSettings& settings, const store::SegmentFile& segment,
             ssd::Device* device, Listeners listeners, std::optional<UcxSource> ucx)
    : loop_(loop),
      core_(core),
      segment_(segment),
      guard_(segment_.mapping.bytes()),
      transferTimeoutMs_(settings.transferTimeoutMs),
      listeners_(std::move(listeners)),
      masters_(settings.masters),
      masterDialer_(
          loop, settings.connectTimeoutMs,
          [this](uint64_t master, Fd socket, const std::string& peer) {
            const Connection& connection = add(std::move(socket), false, peer, Connection::kMasterLimits);
            core_.dialled(nowMs_, connection.id(), master, peer);
          },
          [this](uint64_t master, const net::Dial::Outcome& outcome) {
            if (outcome.unknown) return core_.nameUnknown(nowMs_, master, outcome.why);
            core_.dialFailed(nowMs_, master, outcome.refused, outcome.why);
          }),
      sourceDialer_(
          loop, settings.connectTimeoutMs,
          [this](uint64_t source, Fd socket, const std::string& peer) {
            const Connection& connection = add(std::move(socket), false, "source " + peer, Connection::kSourceLimits);
            core_.sourceDialled(nowMs_, connection.id(), source, peer);
          },
          [this](uint64_t source, const net::Dial::Outcome& outcome) { core_.sourceDialFailed(source, outcome.why); }),
      nowMs_(monotonicMs()) {
  listen(listeners_.tcp.get(), false);
  if (listeners_.local.valid()) listen(listeners_.local.get(), true);
  if (device != nullptr) workers_.emplace(*device, [this] { loop_.wake(); });
  if (!ucx) return;
  ucx_.emplace(std::move(*ucx), segment_.mapping.bytes(), static_cast<UcxEvents&>(*this), settings.connectTimeoutMs);
  loop_.add(ucx_->descriptor(), EPOLLIN, [this](uint32_t) { ucx_->work(nowMs_); });
}

Shell::~Shell() {
  if (ucx_) loop_.remove(ucx_->descriptor());
  for (auto& [id, connection] : connections_)
    loop_.remove(connection->fd());
  if (listeners_.local.valid()) loop_.remove(listeners_.local.get());
  loop_.remove(listeners_.tcp.get());
}

void Shell::listen(int listener, bool local) {
  loop_.add(listener, EPOLLIN, [this, listener, local](uint32_t) { acceptAll(listener, local); });
}

void Shell::turn() {
  nowMs_ = monotonicMs();
  const bool waits =
      ready_.empty() && touched_.empty() && !core_.busy() && nowMs_ < nextTickMs_ && (!ucx_ || ucx_->settled());
  loop_.runOnce(waits ? static_cast<int>(nextTickMs_ - nowMs_) : 0);
  nowMs_ = monotonicMs();
  takeTierDone();
  const std::unordered_set<ConnectionId> ready = std::exchange(ready_, {});
  for (const ConnectionId id : ready) {
    if (Connection* connection = find(id)) work(*connection);
  }
  if (nowMs_ >= nextTickMs_) tick();
  core_.endTurn();
  act();
  if (ucx_ && !ucx_->idle()) ucx_->work(nowMs_);
  finishTurn();
}

void Shell::tick() {
  nextTickMs_ = nowMs_ + NodeCore::kTickMs;
  if (acceptingPaused_) pauseAccepting(false, {});
  checkSegment();
  masterDialer_.tick(nowMs_);
  sourceDialer_.tick(nowMs_);
  core_.tick(nowMs_);
  for (auto& [id, connection] : connections_) {
    connection->expire(nowMs_);
    const uint64_t since = connection->stalledSinceMs();
    if (since != 0 && nowMs_ - since > transferTimeoutMs_) {
      connection->abandon("made no progress for " + std::to_string(transferTimeoutMs_) + " ms");
    }
    if (connection->gone()) touched_.insert(id);
  }
}

/// Whoever cuts the file short takes objects away; with the guard's zeros in their place nothing may be answered.
void Shell::checkSegment() const {
  struct stat info {};
  const bool whole =
      ::fstat(segment_.lock.get(), &info) == 0 && static_cast<uint64_t>(info.st_size) >= segment_.geometry.fileBytes;
  if (whole && !guard_.lost()) return;
  throw SegmentLost("the segment file was cut to " + std::to_string(info.st_size) + " of " +
                    std::to_string(segment_.geometry.fileBytes) +
                    " bytes by somebody else; start the node again: it sets the file aside and begins an empty one");
}

void Shell::acceptAll(int listener, bool local) {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    net::SocketAddress address;
    Result<Fd> accepted = net::acceptOne(listener, &address);
    if (!accepted.ok()) return pauseAccepting(true, accepted.status().text());
    if (!accepted.value().valid()) return;
    acceptFailed_ = false;
    const std::string peer = local ? "client on the unix socket" : "client " + net::toString(address);
    const Connection& connection = add(std::move(accepted.value()), local, peer, Connection::kClientLimits);
    core_.accepted(nowMs_, connection.id(), local, peer);
  }
}

/// Out of descriptors: the listener stays readable, so it is left alone until the next tick instead of spinning.
void Shell::pauseAccepting(bool pause, const std::string& why) {
  if (pause && !std::exchange(acceptFailed_, true)) log(LogLevel::Error, why);
  acceptingPaused_ = pause;
  const uint32_t events = pause ? 0U : uint32_t{EPOLLIN};
  loop_.modify(listeners_.tcp.get(), events);
  if (listeners_.local.valid()) loop_.modify(listeners_.local.get(), events);
}

Connection& Shell::add(Fd socket, bool local, const std::string& peer, const Connection::Limits& limits) {
  const ConnectionId id = ++lastId_;
  auto owned =
      std::make_unique<Connection>(id, std::move(socket), local, peer, limits, segment_.mapping.bytes(), nowMs_);
  Connection& connection = *owned;
  connections_.emplace(id, std::move(owned));
  loop_.add(connection.fd(), EPOLLIN, [this, id](uint32_t events) {
    Connection* known = find(id);
    if (known == nullptr) return;
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) work(*known);
    // Reading is off, or did not notice: a dead peer must not wake the loop for ever.
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) known->abandon("connection lost");
    touched_.insert(id);
  });
  watched_[id] = EPOLLIN;
  return connection;
}

void Shell::work(Connection& connection) {
  touched_.insert(connection.id());
  try {
    if (connection.work(*this, nowMs_)) ready_.insert(connection.id());
  } catch (const std::exception& defect) {
    log(LogLevel::Error, "defect while serving " + connection.peer() + ": " + defect.what());
    connection.abandon("a defect of kvpool");
  }
}

void Shell::act() {
  for (const Action& action : core_.takeActions()) {
    std::visit([this](const auto& one) { perform(one); }, action);
  }
}

/// Sends what was queued; what was sent can lead to more, as with the pieces of a snapshot.
void Shell::finishTurn() {
  for (int round = 0; round < kRoundsPerTurn && !touched_.empty(); ++round) {
    const std::unordered_set<ConnectionId> touched = std::exchange(touched_, {});
    for (const ConnectionId id : touched) {
      if (Connection* connection = find(id)) settle(*connection);
    }
    core_.endTurn();
    act();
  }
}

void Shell::settle(Connection& connection) {
  const ConnectionId id = connection.id();
  if (guard_.lost()) checkSegment();
  connection.flush(*this, nowMs_);
  if (connection.gone()) return remove(id);
  if (connection.takeResume()) ready_.insert(id);
  uint32_t& watched = watched_[id];
  if (watched != connection.interest()) {
    watched = connection.interest();
    loop_.modify(connection.fd(), watched);
  }
}

void Shell::remove(ConnectionId id) {
  const auto found = connections_.find(id);
  if (!found->second->problem().empty()) {
    log(LogLevel::Info, found->second->peer() + ": " + found->second->problem());
  }
  loop_.remove(found->second->fd());
  connections_.erase(found);
  watched_.erase(id);
  ready_.erase(id);
  if (ucx_) ucx_->disconnect(id);
  core_.closed(nowMs_, id);
}

Connection* Shell::find(ConnectionId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

// Events of a connection go to the core, and what it wants is done at once: the next bytes depend on it.

void Shell::onFrame(Connection& connection, wire::Body body) {
  core_.frame(nowMs_, connection.id(), body);
  act();
}

void Shell::onMalformed(Connection& connection, const std::string& what) {
  core_.malformed(connection.id(), what);
  act();
}

void Shell::onPayload(Connection& connection, uint32_t computed, uint32_t sent) {
  core_.payloadReceived(connection.id(), computed, sent);
  act();
}

void Shell::onFramesSent(Connection& connection, uint64_t bytes) {
  core_.sent(connection.id(), bytes);
}

void Shell::onUcxConnected(ConnectionId connection, const Status& outcome) {
  core_.ucxConnected(connection, outcome);
  act();
}

void Shell::onPulled(uint64_t transfer, bool good, uint32_t computed) {
  core_.pulled(transfer, good, computed);
  act();
}

void Shell::onPushed(uint64_t transfer, bool good) {
  core_.pushed(transfer, good);
  act();
}

void Shell::onUcxLost(ConnectionId connection, const std::string& why) {
  Connection* lost = find(connection);
  if (lost == nullptr) return;
  lost->abandon("UCX lost it: " + why);
  touched_.insert(connection);
}

void Shell::onPayloadSent(Connection& connection) {
  core_.payloadSent(connection.id());
}

// ---- what the core asks for ----

void Shell::perform(const SendFrames& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queueFrames(action.frames);
  touched_.insert(action.connection);
}

void Shell::perform(const SendSegments& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queueSegments(action.frames, segment_.readOnly.get());
  touched_.insert(action.connection);
}

void Shell::perform(const SendPayload& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queuePayload(action.offset, action.length, action.crc);
  touched_.insert(action.connection);
}

void Shell::perform(const ReceivePayload& action) {
  if (Connection* connection = find(action.connection)) connection->receivePayload(action.offset, action.length);
}

void Shell::perform(const DiscardPayload& action) {
  if (Connection* connection = find(action.connection)) connection->discard(action.length);
}

void Shell::perform(const CopyStaging& action) {
  if (Connection* connection = find(action.connection)) {
    connection->copyStaging(action.stagingOffset, action.offset, action.length, action.crc);
  }
}

void Shell::perform(const MapStaging& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  Result<store::Mapping> mapped = store::mapStaging(connection->takeDescriptor(), action.bytes);
  if (mapped.ok()) connection->setStaging(std::move(mapped.value()));
  core_.stagingMapped(action.connection, mapped.status());
}

void Shell::perform(const Close& action) {
  log(action.level, "closing: " + action.reason);
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->closeAfterOutput();
  touched_.insert(action.connection);
}

void Shell::perform(const Dial& action) {
  masterDialer_.dial(action.master, masters_.at(action.master), nowMs_);
}

void Shell::perform(const DialSource& action) {
  const Result<HostPort> address = parseHostPort(action.address);
  if (!address.ok()) return core_.sourceDialFailed(action.source, address.status().text());
  sourceDialer_.dial(action.source, address.value(), nowMs_);
}

void Shell::perform(const Note& action) {
  log(action.level, action.text);
}

// ---- the SSD ----

void Shell::takeTierDone() {
  if (!workers_) return;
  for (ssd::Done& done : workers_->takeDone()) {
    if (const auto* write = std::get_if<ssd::WritePayload>(&done.job)) {
      core_.tierWritten(write->op, done.status);
    } else if (const auto* read = std::get_if<ssd::ReadPayload>(&done.job)) {
      if (done.status.ok()) tierPayloads_.emplace(read->op, std::move(done.payload));
      core_.tierRead(read->op, done.status);
    } else {
      core_.tierStored(done.status);
    }
    act();
  }
}

void Shell::perform(const TierWrite& action) {
  workers_->submit(ssd::WritePayload{action.op, segment_.mapping.bytes().subspan(action.offset, action.length),
                                     action.to, action.crc});
}

void Shell::perform(const TierStore& action) {
  workers_->submit(ssd::StoreBlocks{action.batch});
}

void Shell::perform(const TierRead& action) {
  workers_->submit(ssd::ReadPayload{action.op, action.from, action.length, action.crc});
}

void Shell::perform(const CancelTierRead& action) {
  workers_->cancelRead(action.op);
}

void Shell::perform(const SendTierPayload& action) {
  const auto payload = tierPayloads_.find(action.op);
  if (Connection* connection = find(action.connection)) {
    connection->queueBuffer(std::move(payload->second), action.length, action.crc);
    touched_.insert(action.connection);
  }
  tierPayloads_.erase(payload);
}

void Shell::perform(const DropTierPayload& action) {
  tierPayloads_.erase(action.op);
}

}  // namespace kvpool::node
