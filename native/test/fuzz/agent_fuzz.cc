// SPDX-License-Identifier: Apache-2.0
// Both ends of an agent's socket against a peer that says anything: the agent's clients, and a client. Whatever is
// said, the agent may be asked only for what lies in the memory that client attached, and never hold more than its
// bounds; the client may touch its caller's memory only while the batch runs, and must end every batch.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "agent/core/agent_client_core.h"
#include "agent/core/agent_clients.h"
#include "agent/core/identity.h"
#include "frames.h"
#include "fuzz/input.h"

namespace {

using namespace kvpool;
using namespace kvpool::agent;
using client::OpCode;
using test::bodyOf;
using test::identity;
using test::Input;

constexpr uint64_t kStagingAll = 1000;
constexpr uint32_t kClients = 3;

OpCode opOf(uint64_t number) {
  constexpr OpCode kAll[] = {OpCode::Put,       OpCode::Get,    OpCode::Exists,  OpCode::Remove,
                             OpCode::RemoveAll, OpCode::Retain, OpCode::Release, OpCode::Prefetch};
  return kAll[number % std::size(kAll)];
}

/// The agent's end.
class Host {
  struct Asked {
    ConnectionId agentClient = 0;
    size_t lines = 0;
  };

 public:
  void step(Input& input) {
    ConnectionId& id = slots_[input.number(1) % std::size(slots_)];
    const bool known = connected_.contains(id);
    switch (input.number(1) % 8) {
      case 0:
        if (known) break;
        connected_[id = ++lastId_] = 0;
        agentClients_.accepted(now_, id);
        break;
      case 1: {
        wire::Bytes hello;
        wire::appendHello(hello, {identity(wire::Role::Client), 0, wire::kMagic});
        say(id, bodyOf(hello));
        break;
      }
      case 2:
        say(id, bodyOf(attachFrame(input.number(2))));
        break;
      case 3: {
        Request request;
        request.id = input.number(1);
        request.op = opOf(input.number(1));
        request.lines.push_back({"key", input.number(2), input.number(2), 0});
        say(id, bodyOf(requestFrame(request)));
        break;
      }
      case 4:
        say(id, input.bytes(input.number(2)));
        break;
      case 5:
        if (!known) break;
        connected_.erase(id);
        agentClients_.closed(id);
        break;
      case 6:
        if (running_.empty()) break;
        finish(running_.begin()->first);
        break;
      default:
        now_ += static_cast<Time>(input.number(2));
        agentClients_.tick(now_);
        break;
    }
    look();
  }

  void end() {
    while (!connected_.empty()) {
      const ConnectionId id = connected_.begin()->first;
      connected_.erase(id);
      agentClients_.closed(id);
    }
    look();
    while (!running_.empty())
      finish(running_.begin()->first);
    const AgentClients::Counters& left = agentClients_.counters();
    if (left.stagingBytes != 0 || left.agentClients != 0 || left.running != 0) std::abort();
  }

 private:
  void say(ConnectionId id, wire::Body body) {
    if (!connected_.contains(id)) return;
    try {
      agentClients_.frame(id, body);
    } catch (const wire::Malformed& malformed) {
      agentClients_.malformed(id, malformed.what());
    }
    look();
  }

  void finish(Token token) {
    const Asked asked = running_.at(token);
    running_.erase(token);
    agentClients_.finished(token, std::vector<client::LineResult>(asked.lines), "");
    look();
  }

  void look() {
    for (Action& action : agentClients_.takeActions()) {
      if (const auto* map = std::get_if<MapStaging>(&action)) {
        connected_.at(map->connection) = map->bytes;
        agentClients_.mapped(map->connection, Status());
      }
      if (const auto* execute = std::get_if<Execute>(&action)) judge(*execute);
    }
    const AgentClients::Counters& now = agentClients_.counters();
    if (now.stagingBytes > kStagingAll) std::abort();
  }

  void judge(const Execute& execute) {
    const uint64_t bytes = connected_.at(execute.connection);
    const bool hasData = execute.request.op == OpCode::Put || execute.request.op == OpCode::Get;
    for (const RequestLine& line : execute.request.lines) {
      if (hasData && (line.offset > bytes || line.length > bytes - line.offset)) std::abort();
      const auto* key = reinterpret_cast<const uint8_t*>(line.key.data());
      const bool ours =
          key >= execute.body->data() && key + line.key.size() <= execute.body->data() + execute.body->size();
      if (!ours) std::abort();
    }
    running_[execute.token] = {execute.connection, execute.request.lines.size()};
    const auto isTheirs = [&](const auto& entry) { return entry.second.agentClient == execute.connection; };
    const auto theirs = std::count_if(running_.begin(), running_.end(), isTheirs);
    if (static_cast<size_t>(theirs) > kRequestsInFlight) std::abort();
  }

  AgentClients agentClients_{{identity(wire::Role::Agent), kStagingAll, kClients}};
  Time now_ = 0;
  std::map<ConnectionId, uint64_t> connected_;  // and what each attached
  std::map<Token, Asked> running_;
  ConnectionId slots_[5] = {};
  ConnectionId lastId_ = 0;
};

/// The client's end.
class Visitor {
 public:
  void step(Input& input) {
    switch (input.number(1) % 8) {
      case 0:
        connect();
        break;
      case 1: {
        wire::Bytes welcome;
        wire::appendWelcome(welcome, {identity(wire::Role::Agent), 1});
        hear(bodyOf(welcome));
        break;
      }
      case 2:
        hear(bodyOf(attachedFrame({-static_cast<int32_t>(input.number(1) % 2), ""})));
        break;
      case 3:
        hear(input.bytes(input.number(2)));
        break;
      case 4: {
        Reply reply;
        reply.id = input.number(1);
        reply.lines.resize(input.number(1) % 4);
        for (client::LineResult& line : reply.lines)
          line = {-static_cast<int32_t>(input.number(1) % 4) * 100 - 10, input.number(2)};
        if (!reply.lines.empty() && input.number(1) % 2 == 0) reply.lines[0].status = KV_OK;
        hear(bodyOf(replyFrame(reply)));
        break;
      }
      case 5:
        core_.lost(now_, "cut");
        up_ = false;
        break;
      case 6:
        now_ += static_cast<Time>(input.number(2));
        core_.tick(now_);
        break;
      default:
        submit(input);
        break;
    }
    look();
  }

  void end() {
    core_.shutDown();
    look();
    if (!batches_.empty()) std::abort();  // one without an end
  }

 private:
  void connect() {
    if (up_) return;
    up_ = true;
    staging_.assign(kStagingAll, 's');
    core_.connected(now_, staging_);
  }
  void hear(wire::Body body) {
    if (up_) core_.frame(now_, body);
  }

  void submit(Input& input) {
    const client::BatchId id = ++last_;
    client::Submission submission;
    submission.id = id;
    submission.op = opOf(input.number(1));
    submission.deadline = now_ + static_cast<Time>(input.number(2));
    auto& memories = batches_[id];
    const size_t lines = submission.op == OpCode::RemoveAll ? 1 : input.number(1) % 5;
    for (size_t i = 0; i < lines; ++i) {
      memories.emplace_back(input.number(2) % (2 * kStagingAll), '.');
      client::Operation line;
      line.key = i % 2 == 0 ? "even" : "odd";
      line.memory = Pieces(memories.back().data(), memories.back().size());
      line.length = memories.back().size();
      submission.lines.push_back(line);
    }
    core_.submit(now_, std::move(submission));
  }

  void look() {
    const AgentClientCore::Actions actions = core_.takeActions();
    for (const client::FinishBatch& finished : actions.finished) {
      for (const client::LineResult& line : finished.lines) {
        if (line.status > 0) std::abort();  // undecided
      }
      if (batches_.erase(finished.batch) != 1) std::abort();  // its memory is gone: touching it is found by ASan
    }
    if (actions.close) {
      core_.lost(now_, "closed");
      up_ = false;
    }
  }

  AgentClientCore core_{{identity(wire::Role::Client), "/fuzz.sock", kStagingAll}};
  Time now_ = 0;
  bool up_ = false;
  std::vector<uint8_t> staging_;
  client::BatchId last_ = 0;
  std::map<client::BatchId, std::vector<std::vector<uint8_t>>> batches_;
};

template <typename End>
void run(Input& input) {
  End end;
  for (int steps = 0; !input.empty() && steps < 200; ++steps)
    end.step(input);
  end.end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  if (input.number(1) % 2 == 0) {
    run<Host>(input);
  } else {
    run<Visitor>(input);
  }
  return 0;
}
