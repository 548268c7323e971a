// SPDX-License-Identifier: Apache-2.0
// The connection of a PeerLink: dialled, greeted, described, lost. link_requests.cc has what travels over it.
#include "engine/core/peer_link.h"

#include <utility>

#include "dev_kvpool_wire/EngineRegions.h"
#include "dev_kvpool_wire/EngineReply.h"
#include "dev_kvpool_wire/Refused.h"
#include "dev_kvpool_wire/Welcome.h"
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

void PeerLink::opened(Time) {
  state_ = State::Greeting;
  hello_ = wire::Hello{context_.config.me, 0, wire::kMagic};
  wire::Bytes out;
  wire::appendHello(out, hello_);
  context_.act(SendFrame{connection_, std::move(out)});
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
  askForRegions(now);
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
  if (question == describing_.end()) throw wire::Malformed("regions that nobody asked for");
  Result<Description> description = Description::of(std::move(regions.regions));
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
  state_ = State::Idle;
  context_.links.erase(connection_);
  connection_ = 0;
  description_ = Description();
  describing_.clear();
  receiving_ = 0;
  if (!wasReady) return unreachable(now, reason);
  absence_.begin(now, reason);
  const std::string why = "lost the connection to " + address_ + ": " + reason;
  if (missed) context_.explanation = why;
  interruptAll(why);
  advance(now);
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

}  // namespace kvpool::engine
