// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/engine_shell.h"

#include <utility>

#include "base/log.h"
#include "engine/core/limits.h"
#include "net/clock.h"

namespace kvpool::engine {
namespace {

/// More is not read from a peer while so much waits for it.
constexpr net::Stream::Limits kLimits{wire::kHelloBodyBytesMax, kRepliesUnsent, kUnsentBytesMax};

}  // namespace

EngineShell::EngineShell(Config config, Fd listener, std::unique_ptr<AscendMoves> moves, Listener& events)
    : events_(events),
      core_(std::move(config)),
      moves_(std::move(moves)),
      resolver_(loop_),
      streams_(loop_, static_cast<net::Stream::Listener&>(*this)),
      acceptor_(loop_, std::move(listener),
                [this](Fd socket, const net::SocketAddress& peer) { accepted(std::move(socket), peer); }) {
  if (moves_) moves_->tell([this] { wake(); });
}

void EngineShell::round() {
  loop_.runOnce(0);
  takeMoves();
  if (net::steadyMs() - lastTick_ >= kTickMs) {
    lastTick_ = net::steadyMs();
    acceptor_.resume();
    core_.tick(lastTick_);
    streams_.tick(lastTick_);
    if (lastTick_ - hostsWatchedAt_ >= kSilenceCheckMs) {
      hostsWatchedAt_ = lastTick_;
      streams_.forEach([this](net::Stream& stream) { stream.watchHost(lastTick_); });
    }
  }
  settle();
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
  const ConnectionId id = core_.accepted(net::steadyMs(), "transfer engine " + net::toString(peer));
  streams_.add(id, kLimits)->adopt(std::move(socket));
  performAll();
}

// ---- what the core asks for ----

void EngineShell::perform(const Dial& dial) {
  streams_.add(dial.connection, kLimits)->dialTcp(resolver_, dial.address, core_.connectTimeoutMs());
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

void EngineShell::perform(const Close& close) {
  log(LogLevel::Info, "closing: " + close.reason);
  if (!close.afterOutput) return streams_.drop(close.connection);
  streams_.dropAfterOutput(close.connection, net::steadyMs());
}

// ---- what happened ----

void EngineShell::streamOpened(ConnectionId id) {
  core_.opened(net::steadyMs(), id);
}

void EngineShell::streamEnded(ConnectionId id, const net::Stream::Ending& ending) {
  streams_.drop(id);
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
  if (net::Stream* stream = streams_.find(id)) core_.sent(net::steadyMs(), id, stream->out().unsentFrameMemory());
}

void EngineShell::payloadSent(ConnectionId id, PayloadId payload) {
  core_.payloadSent(net::steadyMs(), id, payload);
}

void EngineShell::payloadReceived(ConnectionId id, PayloadId, uint32_t computedCrc, uint32_t sentCrc) {
  core_.payloadReceived(net::steadyMs(), id, computedCrc, sentCrc);
}

}  // namespace kvpool::engine
