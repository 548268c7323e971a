// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/engine_shell.h"

#include <chrono>
#include <utility>

#include "base/log.h"
#include "net/socket.h"

namespace kvpool::engine {
namespace {

constexpr int kAcceptsPerRound = 64;
/// After a refusal, how long its peer may take to hear it.
constexpr Time kLingerMs = 1000;

}  // namespace

EngineShell::EngineShell(Config config, Fd listener, Listener& events)
    : events_(events), core_(std::move(config)), resolver_(loop_), listener_(std::move(listener)) {
  loop_.add(listener_.get(), EPOLLIN, [this](uint32_t) { accept(); });
}

EngineShell::~EngineShell() {
  for (auto& [id, stream] : streams_)
    stream->close();
  loop_.remove(listener_.get());
}

Time EngineShell::now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

void EngineShell::round() {
  loop_.runOnce(0);
  if (now() - lastTick_ >= kTickMs) {
    lastTick_ = now();
    if (acceptingPaused_) pauseAccepting(false);
    core_.tick(lastTick_);
    std::vector<ConnectionId> over;
    for (const auto& [id, until] : lingering_) {
      if (until <= lastTick_) over.push_back(id);
    }
    for (const ConnectionId id : over)
      bury(id);
    if (lastTick_ - hostsWatchedAt_ >= kSilenceCheckMs) watchHosts();
  }
  settle();
}

void EngineShell::watchHosts() {
  hostsWatchedAt_ = lastTick_;
  std::vector<std::shared_ptr<Stream>> all;
  for (const auto& [id, stream] : streams_)
    all.push_back(stream);
  for (const auto& stream : all)
    stream->watchHost(lastTick_);
}

void EngineShell::settle() {
  performAll();
  while (!toFlush_.empty()) {
    for (const ConnectionId id : std::exchange(toFlush_, {})) {
      if (const auto found = streams_.find(id); found != streams_.end()) {
        const std::shared_ptr<Stream> keep = found->second;
        keep->flush();
      }
    }
    performAll();
  }
  buried_.clear();
}

void EngineShell::performAll() {
  for (auto actions = core_.takeActions(); !actions.empty(); actions = core_.takeActions()) {
    for (Action& action : actions) {
      std::visit([this](auto& wanted) { perform(wanted); }, action);
    }
  }
}

Stream* EngineShell::find(ConnectionId id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

void EngineShell::bury(ConnectionId id) {
  lingering_.erase(id);
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second->close();
  buried_.push_back(std::move(found->second));
  streams_.erase(found);
}

// ---- peers that come ----

void EngineShell::accept() {
  for (int i = 0; i < kAcceptsPerRound; ++i) {
    net::SocketAddress address;
    Result<Fd> accepted = net::acceptOne(listener_.get(), &address);
    if (!accepted.ok()) return pauseAccepting(true, accepted.status().text());
    if (!accepted.value().valid()) {  // there are descriptors again: without one accepting fails also when nobody waits
      acceptFailed_ = false;
      return;
    }
    const ConnectionId id = core_.accepted(now(), "transfer engine " + net::toString(address));
    auto stream = std::make_shared<Stream>(loop_, static_cast<Stream::Listener&>(*this), id);
    streams_[id] = stream;
    stream->adopt(std::move(accepted.value()));
    performAll();
  }
}

/// Out of descriptors: the listener stays readable, so it is left alone until the next tick instead of spinning.
void EngineShell::pauseAccepting(bool pause, const std::string& why) {
  if (pause && !std::exchange(acceptFailed_, true)) log(LogLevel::Error, why);
  acceptingPaused_ = pause;
  loop_.modify(listener_.get(), pause ? 0U : uint32_t{EPOLLIN});
}

// ---- what the core asks for ----

void EngineShell::perform(const Dial& dial) {
  auto stream = std::make_shared<Stream>(loop_, static_cast<Stream::Listener&>(*this), dial.connection);
  streams_[dial.connection] = stream;
  stream->dial(resolver_, dial.address, core_.connectTimeoutMs());
}

void EngineShell::perform(SendFrame& send) {
  Stream* stream = find(send.connection);
  if (stream == nullptr) return;
  stream->addFrame(std::move(send.frame));
  toFlush_.push_back(send.connection);
}

void EngineShell::perform(const SendPayload& send) {
  // Goes with the frame just added.
  if (Stream* stream = find(send.connection)) stream->addPayload(send.payload, send.pieces, send.length);
}

void EngineShell::perform(const ReceivePayload& receive) {
  if (Stream* stream = find(receive.connection)) stream->expectPayload(receive.pieces, receive.length);
}

void EngineShell::perform(const DropPayload& drop) {
  if (Stream* stream = find(drop.connection)) stream->dropPayload();
}

void EngineShell::perform(const Welcomed& welcomed) {
  if (Stream* stream = find(welcomed.connection)) stream->welcomed();
}

void EngineShell::perform(const Close& close) {
  log(LogLevel::Info, "closing: " + close.reason);
  if (!close.afterOutput) return bury(close.connection);
  const auto found = streams_.find(close.connection);
  if (found == streams_.end()) return;
  const std::shared_ptr<Stream> keep = found->second;
  lingering_[close.connection] = now() + kLingerMs;
  keep->linger();
}

// ---- what happened ----

void EngineShell::streamOpened(ConnectionId id) {
  core_.opened(now(), id);
}

void EngineShell::streamEnded(ConnectionId id, const std::string& reason) {
  bury(id);
  core_.closed(now(), id, reason);
}

void EngineShell::streamSilent(ConnectionId id, const std::string& reason) {
  bury(id);
  core_.silent(now(), id, reason);
}

void EngineShell::streamMalformed(ConnectionId id, const std::string& what) {
  core_.malformed(now(), id, what);
  performAll();
}

void EngineShell::frameArrived(ConnectionId id, wire::Body body) {
  core_.frame(now(), id, body);
  performAll();  // at once: the payload that follows needs its destination
}

void EngineShell::bytesReceived(ConnectionId id) {
  core_.received(now(), id);
}

void EngineShell::bytesSent(ConnectionId id, uint64_t unsentFrames) {
  core_.sent(now(), id, unsentFrames);
}

void EngineShell::payloadSent(ConnectionId id, PayloadId payload) {
  core_.payloadSent(now(), id, payload);
}

void EngineShell::payloadReceived(ConnectionId id, uint32_t computedCrc, uint32_t sentCrc) {
  core_.payloadReceived(now(), id, computedCrc, sentCrc);
}

}  // namespace kvpool::engine
