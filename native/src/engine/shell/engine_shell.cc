// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/engine_shell.h"

#include <utility>

#include "base/entropy.h"
#include "base/log.h"
#include "engine/core/limits.h"
#include "engine/core/membership.h"
#include "net/clock.h"
#include "net/socket.h"

namespace kvpool::engine {
namespace {

/// More is not read from a peer while so much waits for it.
constexpr net::Stream::Limits kLimits{wire::kHelloBodyBytesMax, kRepliesUnsent, kUnsentBytesMax, kUnsentBytesMax};

/// Steps of handshakes in one round, of half a millisecond each: transfers go on in between.
constexpr int kHandshakeStepsPerRound = 2;
/// All processes of a machine, or of what translates addresses for many, may begin to transfer at the same time.
constexpr net::HandshakesOfAddress kHandshakesOfAddress{128, 500};
/// Between two looks at when certificates end.
constexpr int64_t kCertificatesCheckMs = 100;

}  // namespace

EngineShell::EngineShell(Config config, Fd listener, std::unique_ptr<AscendMoves> moves,
                         std::shared_ptr<secure::Security> security, Listener& events)
    : events_(events),
      core_(std::move(config)),
      security_(std::move(security)),
      moves_(std::move(moves)),
      resolver_(loop_),
      bounds_(kHandshakesOfAddress),
      streams_(loop_, static_cast<net::Stream::Listener&>(*this)),
      acceptor_(loop_, std::move(listener),
                [this](Fd socket, const net::SocketAddress& peer) { accepted(std::move(socket), peer); }) {
  if (moves_) moves_->tell([this] { wake(); });
  if (security_->isOn()) watchCertificates();
}

void EngineShell::round() {
  handshakeSteps_ = kHandshakeStepsPerRound;
  loop_.runOnce(0);
  takeMoves();
  const int64_t began = net::steadyMs();
  copies_.turn([this](ConnectionId id, PayloadId pull, const Pulled& end) {
    core_.pulled(net::steadyMs(), id, pull, end);
    performAll();
  });
  // Memory there may have been slow to come: what peers sent meanwhile is taken before their silence is judged.
  if (net::steadyMs() - began >= kTickMs) loop_.runOnce(0);
  if (net::steadyMs() - lastTick_ >= kTickMs) tick();
  settle();
  if (!copies_.idle()) wake();  // the next turn is due at once
}

void EngineShell::tick() {
  lastTick_ = net::steadyMs();
  acceptor_.resume();
  core_.tick(lastTick_);
  streams_.tick(lastTick_);
  if (lastTick_ - hostsWatchedAt_ >= kSilenceCheckMs) {
    hostsWatchedAt_ = lastTick_;
    streams_.forEach([this](net::Stream& stream) { stream.watchHost(lastTick_); });
  }
  if (!security_->isOn()) return;
  security_->look(lastTick_);
  streams_.endUnauthenticated(lastTick_);
  bounds_.tick(static_cast<uint64_t>(lastTick_));
  if (lastTick_ - certificatesWatchedAt_ >= kCertificatesCheckMs) watchCertificates();
}

/// Connections end with the certificates by which they were opened; those that we dialled are replaced before.
void EngineShell::watchCertificates() {
  certificatesWatchedAt_ = net::steadyMs();
  const std::shared_ptr<const secure::Credentials>& own = security_->credentials();
  if (identified_ != own) {
    identified_ = own;
    const Principal& self = own->self().principal;
    if (const Status may = judgeOwn(self); !may.ok()) log(LogLevel::Warning, may.text());
    core_.identify(certificatesWatchedAt_, self);
  }
  const int64_t now = net::unixMs();
  streams_.forEach([this, now, &own](net::Stream& stream) {
    stream.endExpired(now, *own);
    if (stream.isToBeRenewed(now, *own)) core_.renew(certificatesWatchedAt_, stream.id());
  });
}

void EngineShell::takeMoves() {
  if (!moves_) return;
  for (const AscendMoves::End& end : moves_->takeEnds())
    core_.moved(net::steadyMs(), end.move, end.status);
}

void EngineShell::endMoves() {
  if (!moves_) return;
  moves_->shutDown();
  takeMoves();
}

void EngineShell::performAll() {
  for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
    for (Action& action : actions) {
      std::visit([this](auto& wanted) { perform(wanted); }, action);
    }
  }
}

void EngineShell::accepted(Fd socket, const net::SocketAddress& peer) {
  const ConnectionId id = core_.newConnection();
  std::string shown = "transfer engine " + net::toString(peer);
  if (security_->isOn()) {
    return acceptedSecured(id, std::move(socket), {std::move(shown), net::hostOf(peer)});
  }
  core_.accepted(net::steadyMs(), id, shown, {}, introduction(socket.get()));
  streams_.add(id, kLimits)->adopt(std::move(socket));
  performAll();
}

/// Nothing where bytes go by connections only, and for peers of other machines, whom our process does not concern.
std::optional<Introduction> EngineShell::introduction(int socket) const {
  if (!core_.takesSameMachine() || !net::hasEndsOfOneHost(socket)) return std::nullopt;
  return Introduction{static_cast<uint32_t>(socket), {randomNumber(), randomNumber()}};
}

void EngineShell::acceptedSecured(ConnectionId id, Fd socket, Unopened unopened) {
  const int64_t now = net::steadyMs();
  if (const std::string why = bounds_.begin(unopened.source, static_cast<uint64_t>(now)); !why.empty()) {
    return refusals_.add(unopened.peer, why, now);
  }
  unopened_.emplace(id, std::move(unopened));
  const std::shared_ptr<net::Stream> stream = streams_.add(id, kLimits);
  stream->secure(
      {security_->credentials(), secure::Session::Side::Listener, {}, false, security_->payloads(), &handshakeSteps_});
  stream->adopt(std::move(socket));
}

// ---- what the core asks for ----

void EngineShell::perform(const Dial& dial) {
  const std::shared_ptr<net::Stream> stream = streams_.add(dial.connection, kLimits);
  if (security_->isOn()) {
    stream->secure(
        {security_->credentials(), secure::Session::Side::Dialer, {}, false, security_->payloads(), nullptr});
  }
  stream->dialTcp(resolver_, dial.address, core_.connectTimeoutMs());
}

void EngineShell::perform(SendFrame& send) {
  if (net::OutQueue* out = streams_.outOf(send.connection)) out->addFrame(std::move(send.frame));
}

void EngineShell::perform(const SendPayload& send) {
  if (net::OutQueue* out = streams_.outOf(send.connection)) out->addPayload(send.payload, send.pieces, send.length);
}

void EngineShell::perform(const ReceivePayload& receive) {
  if (net::Stream* stream = streams_.find(receive.connection)) stream->expectPayload(0, receive.pieces, receive.length);
}

void EngineShell::perform(const DropPayload& drop) {
  if (net::Stream* stream = streams_.find(drop.connection)) stream->dropPayload();
}

void EngineShell::perform(const Welcomed& welcomed) {
  if (net::Stream* stream = streams_.find(welcomed.connection)) stream->allowBodies(wire::kFrameBodyBytesMax);
}

void EngineShell::perform(const Meet& meet) {
  if (const net::Stream* stream = streams_.find(meet.connection)) copies_.meet(meet, stream->descriptor());
}

void EngineShell::perform(const Close& close) {
  copies_.forget(close.connection);
  log(LogLevel::Info, "closing: " + close.reason);
  if (!close.afterOutput) return streams_.drop(close.connection);
  streams_.dropAfterOutput(close.connection, net::steadyMs());
}

void EngineShell::perform(const PeerRefused& refused) {
  refusals_.add(refused.peer, refused.why, net::steadyMs());
}

// ---- what happened ----

void EngineShell::streamOpened(ConnectionId id) {
  const net::Stream* const stream = streams_.find(id);
  const Principal* const who = stream == nullptr ? nullptr : stream->principal();
  const auto unopened = unopened_.extract(id);
  const std::optional<Introduction> ours = stream == nullptr ? std::nullopt : introduction(stream->descriptor());
  if (!unopened) return core_.opened(net::steadyMs(), id, who, ours);
  bounds_.end(unopened.mapped().source);
  core_.accepted(net::steadyMs(), id, unopened.mapped().peer, who == nullptr ? std::nullopt : std::optional(*who),
                 ours);
  performAll();
}

void EngineShell::streamEnded(ConnectionId id, const net::Stream::Ending& ending) {
  copies_.forget(id);
  streams_.drop(id);
  if (const auto unopened = unopened_.extract(id)) {
    bounds_.end(unopened.mapped().source);
    return refusals_.add(unopened.mapped().peer, ending.why, net::steadyMs());
  }
  if (ending.how == net::Stream::Ending::How::Silent) return core_.silent(net::steadyMs(), id, ending.why);
  core_.closed(net::steadyMs(), id, ending.why);
}

void EngineShell::streamMalformed(ConnectionId id, const std::string& what) {
  core_.malformed(net::steadyMs(), id, what);
  performAll();
}

void EngineShell::frameArrived(ConnectionId id, wire::Body body) {
  core_.frame(net::steadyMs(), id, body);
  performAll();  // at once: the payload that follows needs its destination
}

void EngineShell::bytesReceived(ConnectionId id) {
  core_.received(net::steadyMs(), id);
}

void EngineShell::bytesSent(ConnectionId id, uint64_t) {
  if (net::Stream* stream = streams_.find(id)) core_.sent(net::steadyMs(), id, stream->out().unsentMemory());
}

void EngineShell::payloadSent(ConnectionId id, PayloadId payload) {
  core_.payloadSent(net::steadyMs(), id, payload);
}

void EngineShell::payloadReceived(ConnectionId id, PayloadId, uint32_t computedCrc, uint32_t sentCrc) {
  core_.payloadReceived(net::steadyMs(), id, computedCrc, sentCrc);
}

}  // namespace kvpool::engine
