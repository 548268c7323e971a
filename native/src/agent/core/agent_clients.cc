// SPDX-License-Identifier: Apache-2.0
#include "agent/core/agent_clients.h"

#include <utility>

#include "dev_kvpool_wire/AgentAttach.h"
#include "dev_kvpool_wire/AgentRequest.h"
#include "dev_kvpool_wire/Hello.h"
#include "wire/frame.h"

namespace kvpool::agent {

namespace sbe = wire::sbe;
using client::OpCode;

void AgentClients::accepted(Time now, ConnectionId id) {
  AgentClient& agentClient = agentClients_[id];
  agentClient.until = now + kAttachMs;
  if (++counters_.agentClients <= config_.clientsMax) return;
  ++counters_.refusedClients;
  const std::string bound = std::to_string(config_.clientsMax) + " clients use this agent, the most there may be";
  send(id, wire::framed(wire::appendRefused, {wire::Refusal::Limit, config_.me.wire, bound}));
  end(id, agentClient, LogLevel::Warning, bound);
}

void AgentClients::frame(ConnectionId id, wire::Body body) {
  AgentClient& agentClient = agentClients_.at(id);
  switch (agentClient.stage) {
    case Stage::Greeting:
      return greet(id, agentClient, body);
    case Stage::Attaching:
      if (wire::templateOf(body) != sbe::AgentAttach::sbeTemplateId()) throw wire::Malformed("expected an AgentAttach");
      return attach(id, agentClient, readAttach(body));
    case Stage::Attached:
      return execute(id, agentClient, body);
    case Stage::Mapping:
    case Stage::Ending:
      return;
  }
}

void AgentClients::malformed(ConnectionId id, const std::string& what) {
  AgentClient& agentClient = agentClients_.at(id);
  if (agentClient.stage == Stage::Ending) return;
  ++counters_.protocolErrors;
  send(id, wire::framed(wire::appendRefused, {wire::Refusal::Protocol, config_.me.wire, what}));
  end(id, agentClient, LogLevel::Warning, what);
}

void AgentClients::greet(ConnectionId id, AgentClient& agentClient, wire::Body body) {
  if (wire::templateOf(body) != sbe::Hello::sbeTemplateId()) throw wire::Malformed("the first frame is no Hello");
  const wire::Hello hello = wire::readHello(body);
  const auto answer = wire::judgeHello(hello, config_.me, {wire::Role::Client, true, false});
  if (const auto* refused = std::get_if<wire::Refused>(&answer)) {
    ++counters_.refusedClients;
    send(id, wire::framed(wire::appendRefused, *refused));
    return end(id, agentClient, LogLevel::Warning, refused->message);
  }
  agentClient.name = "client " + hello.self.name;
  agentClient.stage = Stage::Attaching;
  send(id, wire::framed(wire::appendWelcome, std::get<wire::Welcome>(answer)));
}

// ---- memory ----

void AgentClients::attach(ConnectionId id, AgentClient& agentClient, uint64_t bytes) {
  const Status room = staging_.take(bytes);
  if (!room.ok()) return refuseMemory(id, agentClient, room);
  agentClient.stagingBytes = bytes;
  counters_.stagingBytes = staging_.used();
  agentClient.stage = Stage::Mapping;
  actions_.emplace_back(MapStaging{id, bytes});
}

void AgentClients::mapped(ConnectionId id, const Status& outcome) {
  const auto found = agentClients_.find(id);
  if (found == agentClients_.end() || found->second.stage != Stage::Mapping) return;
  AgentClient& agentClient = found->second;
  if (!outcome.ok()) {
    giveBack(agentClient);
    return refuseMemory(id, agentClient, outcome);
  }
  agentClient.stage = Stage::Attached;
  send(id, attachedFrame({}));
  send(id, stateFrame(state_));
}

void AgentClients::giveBack(AgentClient& agentClient) {
  staging_.giveBack(std::exchange(agentClient.stagingBytes, 0));
  counters_.stagingBytes = staging_.used();
}

void AgentClients::refuseMemory(ConnectionId id, AgentClient& agentClient, const Status& why) {
  ++counters_.refusedClients;
  send(id, attachedFrame({why.code(), why.text()}));
  end(id, agentClient, LogLevel::Warning, why.text());
}

// ---- requests ----

void AgentClients::execute(ConnectionId id, AgentClient& agentClient, wire::Body body) {
  if (wire::templateOf(body) != sbe::AgentRequest::sbeTemplateId()) throw wire::Malformed("expected an AgentRequest");
  if (agentClient.running >= kRequestsInFlight) {
    throw wire::Malformed("more than " + std::to_string(kRequestsInFlight) + " requests without an answer");
  }
  Execute execute;
  execute.connection = id;
  execute.body = std::make_shared<const wire::Bytes>(body.begin(), body.end());
  execute.request = readRequest(*execute.body);
  judge(agentClient, execute.request);
  execute.token = ++lastToken_;
  running_[execute.token] = {id, execute.request.id};
  ++agentClient.running;
  ++counters_.running;
  ++counters_.requests;
  counters_.lines += execute.request.lines.size();
  actions_.emplace_back(std::move(execute));
}

void AgentClients::judge(const AgentClient& agentClient, const Request& request) {
  if (request.softPinMs > KV_SOFT_PIN_MS_MAX) throw wire::Malformed("a soft pin of more than 24 hours");
  if (request.retainMs > KV_RETAIN_MS_MAX) throw wire::Malformed("a retention of more than an hour");
  if (request.op != OpCode::Put && request.op != OpCode::Get) return;
  for (const RequestLine& line : request.lines) {
    if (line.offset > agentClient.stagingBytes || line.length > agentClient.stagingBytes - line.offset) {
      throw wire::Malformed("a line names memory outside of the staging memory");
    }
  }
}

void AgentClients::finished(Token token, std::vector<client::LineResult> lines, std::string message) {
  const auto found = running_.find(token);
  if (found == running_.end()) return;
  const Running request = found->second;
  running_.erase(found);
  AgentClient& agentClient = agentClients_.at(request.agentClient);
  --agentClient.running;
  --counters_.running;
  if (agentClient.stage == Stage::Attached)
    send(request.agentClient, replyFrame({request.request, std::move(lines), std::move(message)}));
  forgetIfOver(request.agentClient);
}

void AgentClients::stateIs(const State& state) {
  if (state == state_) return;
  state_ = state;
  for (const auto& [id, agentClient] : agentClients_) {
    if (agentClient.stage == Stage::Attached) send(id, stateFrame(state_));
  }
}

// ---- ending ----

void AgentClients::end(ConnectionId id, AgentClient& agentClient, LogLevel level, const std::string& reason) {
  agentClient.stage = Stage::Ending;
  actions_.emplace_back(Close{id, level, agentClient.name + ": " + reason});
}

void AgentClients::closed(ConnectionId id) {
  AgentClient& agentClient = agentClients_.at(id);
  agentClient.stage = Stage::Ending;
  agentClient.connected = false;
  --counters_.agentClients;
  for (const auto& [token, request] : running_) {
    if (request.agentClient == id) actions_.emplace_back(Cancel{token});
  }
  forgetIfOver(id);
}

void AgentClients::forgetIfOver(ConnectionId id) {
  const auto found = agentClients_.find(id);
  if (found->second.connected || found->second.running > 0) return;
  giveBack(found->second);
  agentClients_.erase(found);
}

void AgentClients::tick(Time now) {
  for (auto& [id, agentClient] : agentClients_) {
    const bool waitsForThem = agentClient.stage == Stage::Greeting || agentClient.stage == Stage::Attaching;
    if (waitsForThem && now >= agentClient.until) {
      end(id, agentClient, LogLevel::Info, "did not attach within " + std::to_string(kAttachMs) + " ms");
    }
  }
}

}  // namespace kvpool::agent
