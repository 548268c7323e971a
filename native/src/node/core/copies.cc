// SPDX-License-Identifier: Apache-2.0
#include "node/core/copies.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/own_keys.h"
#include "dev_kvpool_wire/Heartbeat.h"
#include "dev_kvpool_wire/ReadReply.h"
#include "dev_kvpool_wire/Refused.h"
#include "node/core/messages.h"

namespace kvpool::node {

namespace sbe = wire::sbe;

const Copies::Link* Copies::linkOf(ConnectionId id) const {
  for (const auto& [number, link] : links_) {
    if (link.connection == id && link.state != State::Dialing) return &link;
  }
  return nullptr;
}

Copies::Link& Copies::at(ConnectionId id) {
  for (auto& [number, link] : links_) {
    if (linkOf(id) == &link) return link;
  }
  throw std::logic_error("connection of no source");
}

size_t Copies::running() const {
  return static_cast<size_t>(
      std::count_if(links_.begin(), links_.end(), [](const auto& one) { return one.second.task.has_value(); }));
}

void Copies::begin(uint64_t nowMs, ConnectionId master, const Copy& command) {
  nowMs_ = nowMs;
  Task task{master,
            command.requestId,
            command.authority,
            command.objectId,
            command.sourceExtent,
            command.payloadLength,
            command.payloadCrc,
            0};
  if (running() >= kRunningMax || links_.size() >= kLinksMax)
    return context_.answer(task.master, task.requestId, true, KV_QUEUE_FULL);
  if (!context_.takes(command.key)) return context_.answer(task.master, task.requestId, true, KV_NOT_PERMITTED);
  const Result<uint32_t> slot =
      context_.directory.reserve(command.objectId, command.key, command.payloadLength, command.retention);
  if (!slot.ok()) return context_.answer(task.master, task.requestId, true, slot.status().code());
  task.slot = slot.value();
  if (Link* idle = idleLink(command)) {
    idle->task = task;
    return ask(nowMs, *idle);
  }
  Link& link = links_[++lastLink_];
  link.address = command.sourceTcp;
  link.incarnation = command.sourceIncarnation;
  link.task = task;
  context_.outbox.add(DialSource{lastLink_, link.address, std::string(command.sourceNode), command.sourceIsTransient});
}

Copies::Link* Copies::idleLink(const Copy& command) {
  for (auto& [number, link] : links_) {
    const bool same = link.address == command.sourceTcp && link.incarnation == command.sourceIncarnation;
    if (same && link.state == State::Idle) return &link;
  }
  return nullptr;
}

wire::Hello Copies::helloTo(uint64_t incarnation) const {
  wire::Hello hello;
  hello.self = context_.config.self;
  hello.self.role = wire::Role::Client;
  hello.expectedPeer = incarnation;
  return hello;
}

void Copies::dialled(uint64_t nowMs, ConnectionId id, uint64_t source, const std::string& peer) {
  Link& link = links_.at(source);
  link.state = State::Greeting;
  link.connection = id;
  link.peer = peer;
  link.untilMs = nowMs + kAnswerMs;
  context_.outbox.frames(id, wire::framed(wire::appendHello, helloTo(link.incarnation)));
}

void Copies::dialFailed(uint64_t source, const std::string& why) {
  const auto found = links_.find(source);
  finish(found->second, {KV_CONNECT_FAILED, why}, true);
  links_.erase(found);
}

void Copies::frame(uint64_t nowMs, ConnectionId id, wire::Body body) {
  nowMs_ = nowMs;
  Link& link = at(id);
  if (link.state == State::Closing || wire::templateOf(body) == sbe::Heartbeat::sbeTemplateId()) return;
  if (link.state == State::Greeting) return greeted(nowMs, link, body);
  if (link.state == State::Asked) return readable(nowMs, link, body);
  throw wire::Malformed("nothing was asked of this source");
}

void Copies::greeted(uint64_t nowMs, Link& link, wire::Body body) {
  if (wire::templateOf(body) == sbe::Refused::sbeTemplateId()) {
    return fail(link, wire::refusalStatus(wire::readRefused(body), link.peer));
  }
  const Status fits = wire::judgeWelcome(wire::readWelcome(body), wire::Role::Node, helloTo(link.incarnation));
  if (!fits.ok()) return fail(link, fits);
  ask(nowMs, link);
}

void Copies::ask(uint64_t nowMs, Link& link) {
  link.state = State::Asked;
  link.untilMs = nowMs + kAnswerMs;
  context_.outbox.frames(link.connection,
                         wire::framed(appendReadRequest, {link.task->requestId, link.task->source, link.task->objectId,
                                                          link.task->payloadLength}));
}

void Copies::readable(uint64_t nowMs, Link& link, wire::Body body) {
  const ReadReply reply = readReadReply(body);
  if (reply.requestId != link.task->requestId) throw wire::Malformed("answer to another read");
  if (reply.status != KV_OK) {
    finish(link, {reply.status, "the source does not have it"}, true);
    return rest(link);
  }
  if (reply.payloadLength != link.task->payloadLength) throw wire::Malformed("payload of another length");
  link.state = State::Receiving;
  link.untilMs = nowMs + kTransferMs + reply.payloadLength / kBytesPerMsMin;
  const uint64_t offset = context_.directory.slot(link.task->slot).payloadOffset();
  context_.outbox.add(ReceivePayload{link.connection, offset, reply.payloadLength});
}

void Copies::payloadReceived(ConnectionId id, uint32_t computed, uint32_t sent) {
  Link& link = at(id);
  if (link.state == State::Closing) return;
  if (!link.task || link.state != State::Receiving) throw std::logic_error("payload that no copy waits for");
  const Task task = *link.task;
  const int32_t judged = context_.fencing.judge(task.authority);
  if (judged != KV_OK) {
    ++context_.stats.staleRefusals;
    finish(link, {judged, "another leader has come"}, false);
  } else if (context_.directory.removed(task.slot)) {
    finish(link, {KV_STALE_EPOCH, "it was removed meanwhile"}, true);
  } else if (computed != sent || computed != task.payloadCrc) {
    ++context_.stats.checksumFailures;
    finish(link, {KV_CHECKSUM, "the source sent other bytes"}, true);
  } else {
    context_.directory.commit(task.slot, computed);
    context_.stream.committed(task.slot);
    ++context_.stats.copiesIn;
    context_.stats.copiesInBytes += task.payloadLength;
    context_.answer(task.master, task.requestId, true, KV_OK);
    link.task.reset();
  }
  rest(link);
}

/// Kept for the next copy from there; the one that rests longest makes room.
void Copies::rest(Link& link) {
  if (link.endsSoon) return fail(link, {KV_OK, "its certificates end soon"});
  link.state = State::Idle;
  link.untilMs = nowMs_ + kIdleMs;
  Link* oldest = &link;
  size_t idle = 0;
  for (auto& [number, other] : links_) {
    if (other.state != State::Idle) continue;
    ++idle;
    if (other.untilMs < oldest->untilMs) oldest = &other;
  }
  if (idle > kIdleMax) fail(*oldest, {KV_OK, "not needed any more"});
}

void Copies::renew(ConnectionId id) {
  Link& link = at(id);
  link.endsSoon = true;
  if (link.state == State::Idle) rest(link);
}

void Copies::malformed(ConnectionId id, const std::string& what) {
  Link& link = at(id);
  if (link.state == State::Closing) return;
  ++context_.stats.protocolErrors;
  fail(link, {KV_PROTOCOL, what});
}

/// Ends the connection, and the copy on it if there is one.
void Copies::fail(Link& link, const Status& why) {
  if (link.task && link.state == State::Receiving) link.abandonedSlot = link.task->slot;
  if (link.task) finish(link, why, true);
  link.state = State::Closing;
  const LogLevel level = why.ok() ? LogLevel::Debug : LogLevel::Info;
  context_.outbox.add(Close{link.connection, link.peer + ": " + why.text(), level});
}

void Copies::finish(Link& link, const Status& outcome, bool accepted) {
  const Task task = *std::exchange(link.task, std::nullopt);
  if (!link.abandonedSlot) context_.directory.abort(task.slot);
  context_.outbox.note(LogLevel::Info, "copy of object " + toString(task.objectId) + " from " + link.address +
                                           " ended with " + statusName(outcome.code()) + ": " + outcome.text());
  context_.answer(task.master, task.requestId, accepted, outcome.code());
}

void Copies::closed(ConnectionId id) {
  Link& link = at(id);
  if (link.task) finish(link, {KV_TRANSFER_FAILED, "the source closed the connection"}, true);
  if (link.abandonedSlot) context_.directory.abort(*link.abandonedSlot);
  std::erase_if(links_, [&](const auto& one) { return &one.second == &link; });
}

void Copies::tick(uint64_t nowMs) {
  nowMs_ = nowMs;
  for (auto& [number, link] : links_) {
    if (link.state == State::Dialing || link.state == State::Closing || nowMs < link.untilMs) continue;
    const bool idle = link.state == State::Idle;
    fail(link, idle ? Status(KV_OK, "not needed any more") : Status(KV_TIMEOUT, "the source takes too long"));
  }
}

}  // namespace kvpool::node
