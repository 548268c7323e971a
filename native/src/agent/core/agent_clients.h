// SPDX-License-Identifier: Apache-2.0
// An agent's clients as a state machine without sockets, memory or clock: who is there, how much staging memory each
// shares with us, which requests run. Nothing a client says is believed: what passes a bound ends its connection, and
// no request names memory outside of what its client attached.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "agent/core/limits.h"
#include "agent/core/messages.h"
#include "base/log.h"
#include "base/staging_budget.h"
#include "wire/handshake.h"

namespace kvpool::agent {

using ConnectionId = uint64_t;
using Token = uint64_t;  ///< names a running request; never reused

struct SendFrame {
  ConnectionId connection = 0;
  wire::Bytes frame;
};

/// Map the memfd that came along, for reading and writing. Answered by mapped(), before anything else of that client.
struct MapStaging {
  ConnectionId connection = 0;
  uint64_t bytes = 0;
};

/// Have the pool do this. Answered by finished(), also when the client is gone by then; its memory stays until then.
struct Execute {
  ConnectionId connection = 0;
  Token token = 0;
  std::shared_ptr<const wire::Bytes> body;  // what the keys of the request are views into
  Request request;
};

/// The client of this running request is gone. It is still answered.
struct Cancel {
  Token token = 0;
};

/// Close once everything is sent.
struct Close {
  ConnectionId connection = 0;
  LogLevel level = LogLevel::Info;
  std::string reason;
};

using Action = std::variant<SendFrame, MapStaging, Execute, Cancel, Close>;

class AgentClients {
 public:
  struct Config {
    wire::Identity me;
    uint64_t stagingBytes = kSharedStagingBytes;  // of all clients together
    uint32_t clientsMax = kClientsMax;
  };
  struct Counters {
    uint64_t agentClients = 0;  // connected, also those that have not attached yet
    uint64_t stagingBytes = 0;
    uint64_t running = 0;
    uint64_t requests = 0;
    uint64_t lines = 0;
    uint64_t refusedClients = 0;
    uint64_t protocolErrors = 0;
  };

  explicit AgentClients(Config config) : config_(std::move(config)), staging_(config_.stagingBytes, "this agent") {}

  void accepted(Time now, ConnectionId id);
  /// Throws wire::Malformed for what is not the protocol; malformed() is to follow.
  void frame(ConnectionId id, wire::Body body);
  void malformed(ConnectionId id, const std::string& what);
  void mapped(ConnectionId id, const Status& outcome);
  /// The connection is gone; what its client shared is, too, once its last request has ended.
  void closed(ConnectionId id);
  /// `lines` in the order of the request.
  void finished(Token token, std::vector<client::LineResult> lines, std::string message);
  /// What clients are told about the pool.
  void stateIs(const State& state);
  void tick(Time now);

  std::vector<Action> takeActions() { return std::exchange(actions_, {}); }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  enum class Stage { Greeting, Attaching, Mapping, Attached, Ending };
  struct AgentClient {
    Stage stage = Stage::Greeting;
    Time until = 0;  // attached by then, or closed
    uint64_t stagingBytes = 0;
    uint64_t running = 0;
    bool connected = true;
    std::string name = "a client";
  };
  struct Running {
    ConnectionId agentClient = 0;
    uint64_t request = 0;
  };

  void greet(ConnectionId id, AgentClient& agentClient, wire::Body body);
  void attach(ConnectionId id, AgentClient& agentClient, uint64_t bytes);
  void giveBack(AgentClient& agentClient);
  void refuseMemory(ConnectionId id, AgentClient& agentClient, const Status& why);
  void execute(ConnectionId id, AgentClient& agentClient, wire::Body body);
  static void judge(const AgentClient& agentClient, const Request& request);
  void send(ConnectionId id, wire::Bytes frame) { actions_.emplace_back(SendFrame{id, std::move(frame)}); }
  void end(ConnectionId id, AgentClient& agentClient, LogLevel level, const std::string& reason);
  void forgetIfOver(ConnectionId id);

  const Config config_;
  StagingBudget staging_;
  Counters counters_;
  State state_;
  Token lastToken_ = 0;
  std::unordered_map<ConnectionId, AgentClient> agentClients_;
  std::unordered_map<Token, Running> running_;
  std::vector<Action> actions_;
};

}  // namespace kvpool::agent
