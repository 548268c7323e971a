// SPDX-License-Identifier: Apache-2.0
#include "agent/core/guests.h"

#include <utility>

#include "dev_kvpool_wire/AgentAttach.h"
#include "dev_kvpool_wire/AgentRequest.h"
#include "dev_kvpool_wire/Hello.h"

namespace kvpool::agent {

namespace sbe = wire::sbe;
using client::OpCode;

void Guests::accepted(Time now, ConnectionId id) {
  Guest& guest = guests_[id];
  guest.until = now + kAttachMs;
  if (++counters_.guests <= config_.guestsMax) return;
  ++counters_.refusedGuests;
  const std::string bound = std::to_string(config_.guestsMax) + " clients use this agent, the most there may be";
  wire::Bytes out;
  wire::appendRefused(out, {wire::Refusal::Limit, config_.me.wire, bound});
  send(id, std::move(out));
  end(id, guest, LogLevel::Warning, bound);
}

void Guests::frame(ConnectionId id, wire::Body body) {
  Guest& guest = guests_.at(id);
  switch (guest.stage) {
    case Stage::Greeting:
      return greet(id, guest, body);
    case Stage::Attaching:
      if (wire::templateOf(body) != sbe::AgentAttach::sbeTemplateId()) throw wire::Malformed("expected an AgentAttach");
      return attach(id, guest, readAttach(body));
    case Stage::Attached:
      return execute(id, guest, body);
    case Stage::Mapping:
    case Stage::Ending:
      return;
  }
}

void Guests::malformed(ConnectionId id, const std::string& what) {
  Guest& guest = guests_.at(id);
  if (guest.stage == Stage::Ending) return;
  ++counters_.protocolErrors;
  wire::Bytes out;
  wire::appendRefused(out, {wire::Refusal::Protocol, config_.me.wire, what});
  send(id, std::move(out));
  end(id, guest, LogLevel::Warning, what);
}

void Guests::greet(ConnectionId id, Guest& guest, wire::Body body) {
  if (wire::templateOf(body) != sbe::Hello::sbeTemplateId()) throw wire::Malformed("the first frame is no Hello");
  const wire::Hello hello = wire::readHello(body);
  wire::Bytes out;
  const auto answer = wire::judgeHello(hello, config_.me, {wire::Role::Client, true, false});
  if (const auto* refused = std::get_if<wire::Refused>(&answer)) {
    ++counters_.refusedGuests;
    wire::appendRefused(out, *refused);
    send(id, std::move(out));
    return end(id, guest, LogLevel::Warning, refused->message);
  }
  guest.name = "client " + hello.self.name;
  guest.stage = Stage::Attaching;
  wire::appendWelcome(out, std::get<wire::Welcome>(answer));
  send(id, std::move(out));
}

// ---- memory ----

void Guests::attach(ConnectionId id, Guest& guest, uint64_t bytes) {
  const Status room = staging_.take(bytes);
  if (!room.ok()) return refuseMemory(id, guest, room);
  guest.stagingBytes = bytes;
  counters_.stagingBytes = staging_.used();
  guest.stage = Stage::Mapping;
  actions_.emplace_back(MapStaging{id, bytes});
}

void Guests::mapped(ConnectionId id, const Status& outcome) {
  const auto found = guests_.find(id);
  if (found == guests_.end() || found->second.stage != Stage::Mapping) return;
  Guest& guest = found->second;
  if (!outcome.ok()) {
    giveBack(guest);
    return refuseMemory(id, guest, outcome);
  }
  guest.stage = Stage::Attached;
  send(id, attachedFrame({}));
  send(id, stateFrame(state_));
}

void Guests::giveBack(Guest& guest) {
  staging_.giveBack(std::exchange(guest.stagingBytes, 0));
  counters_.stagingBytes = staging_.used();
}

void Guests::refuseMemory(ConnectionId id, Guest& guest, const Status& why) {
  ++counters_.refusedGuests;
  send(id, attachedFrame({why.code(), why.text()}));
  end(id, guest, LogLevel::Warning, why.text());
}

// ---- requests ----

void Guests::execute(ConnectionId id, Guest& guest, wire::Body body) {
  if (wire::templateOf(body) != sbe::AgentRequest::sbeTemplateId()) throw wire::Malformed("expected an AgentRequest");
  if (guest.running >= kRequestsInFlight) {
    throw wire::Malformed("more than " + std::to_string(kRequestsInFlight) + " requests without an answer");
  }
  Execute execute;
  execute.connection = id;
  execute.body = std::make_shared<const wire::Bytes>(body.begin(), body.end());
  execute.request = readRequest(*execute.body);
  judge(guest, execute.request);
  execute.token = ++lastToken_;
  running_[execute.token] = {id, execute.request.id};
  ++guest.running;
  ++counters_.running;
  ++counters_.requests;
  counters_.lines += execute.request.lines.size();
  actions_.emplace_back(std::move(execute));
}

void Guests::judge(const Guest& guest, const Request& request) {
  if (request.softPinMs > KV_SOFT_PIN_MS_MAX) throw wire::Malformed("a soft pin of more than 24 hours");
  if (request.op != OpCode::Put && request.op != OpCode::Get) return;
  for (const RequestLine& line : request.lines) {
    if (line.offset > guest.stagingBytes || line.length > guest.stagingBytes - line.offset) {
      throw wire::Malformed("a line names memory outside of the staging memory");
    }
  }
}

void Guests::finished(Token token, std::vector<client::LineResult> lines, std::string message) {
  const auto found = running_.find(token);
  if (found == running_.end()) return;
  const Running request = found->second;
  running_.erase(found);
  Guest& guest = guests_.at(request.guest);
  --guest.running;
  --counters_.running;
  if (guest.stage == Stage::Attached)
    send(request.guest, replyFrame({request.request, std::move(lines), std::move(message)}));
  forgetIfOver(request.guest);
}

void Guests::stateIs(const State& state) {
  if (state == state_) return;
  state_ = state;
  for (const auto& [id, guest] : guests_) {
    if (guest.stage == Stage::Attached) send(id, stateFrame(state_));
  }
}

// ---- ending ----

void Guests::end(ConnectionId id, Guest& guest, LogLevel level, const std::string& reason) {
  guest.stage = Stage::Ending;
  actions_.emplace_back(Close{id, level, guest.name + ": " + reason});
}

void Guests::closed(ConnectionId id) {
  Guest& guest = guests_.at(id);
  guest.stage = Stage::Ending;
  guest.connected = false;
  --counters_.guests;
  for (const auto& [token, request] : running_) {
    if (request.guest == id) actions_.emplace_back(Cancel{token});
  }
  forgetIfOver(id);
}

void Guests::forgetIfOver(ConnectionId id) {
  const auto found = guests_.find(id);
  if (found->second.connected || found->second.running > 0) return;
  giveBack(found->second);
  guests_.erase(found);
}

void Guests::tick(Time now) {
  for (auto& [id, guest] : guests_) {
    const bool waitsForThem = guest.stage == Stage::Greeting || guest.stage == Stage::Attaching;
    if (waitsForThem && now >= guest.until) {
      end(id, guest, LogLevel::Info, "did not attach within " + std::to_string(kAttachMs) + " ms");
    }
  }
}

}  // namespace kvpool::agent
