// SPDX-License-Identifier: Apache-2.0
// A running agent: its socket, its clients, the one client that does their work, and the thread that brings them
// together. It owns no objects and writes nothing down.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "agent/core/agent_clients.h"
#include "client/shell/client.h"
#include "net/acceptor.h"
#include "net/event_loop.h"
#include "net/socket_file.h"
#include "net/streams.h"
#include "store/mapping.h"

namespace kvpool::agent {

struct AgentSettings {
  client::ClientSettings client;
  std::string socketPath;
  /// "@NAME", which processes of this user find as well; empty: none. Without it where it cannot be had.
  std::string abstractSocket;
  AgentClients::Config agentClients;
};

struct AgentStats {
  AgentClients::Counters agentClients;
  uint64_t stagingBytesMax = 0;
  client::Statistics pool;
};

class Agent final : private net::Stream::Listener {
 public:
  /// Listens and starts; masters may be away. Every failure has a sentence.
  static Result<std::unique_ptr<Agent>> start(AgentSettings settings);
  /// Agent clients' requests end with their connections.
  ~Agent() override;

  [[nodiscard]] AgentStats stats() const;
  /// Why no leader serves us; empty while one does.
  [[nodiscard]] std::string whyNotReady() const { return client_->readiness().text(); }
  /// False after a defect ended the agent or its client.
  [[nodiscard]] bool running() const { return running_.load(std::memory_order_relaxed) && client_->running(); }

 private:
  /// A request while the pool does it: its memory, its keys and its table live as long.
  struct Job {
    Token token = 0;
    std::shared_ptr<store::Mapping> memory;
    std::shared_ptr<const wire::Bytes> body;
    std::vector<kv_op> table;
    std::vector<uint64_t> groups;
  };
  using BatchId = client::BatchId;

  explicit Agent(AgentSettings settings);
  void run();
  void turn();
  void tick();
  void accepted(Fd socket);
  void acceptedByName(Fd socket);
  void takeDone();
  void act();

  void perform(SendFrame& send);
  void perform(const MapStaging& map);
  void perform(Execute& execute);
  void perform(const Cancel& cancel);
  void perform(const Close& close);
  void answer(const Job& job, int32_t refusal);

  void streamEnded(ConnectionId id, const net::Stream::Ending& ending) override;
  void streamMalformed(ConnectionId id, const std::string& what) override;
  void frameArrived(ConnectionId id, wire::Body body) override;

  const AgentSettings settings_;
  net::SocketFile socketFile_;
  net::EventLoop loop_;
  AgentClients agentClients_;
  Time now_;
  Time nextTick_ = 0;
  bool toldRefusal_ = false;  // of a process of another user, which is said once
  ConnectionId lastId_ = 0;
  net::Streams streams_;
  std::list<net::Acceptor> acceptors_;
  std::unordered_map<ConnectionId, std::shared_ptr<store::Mapping>> memories_;
  std::unordered_map<BatchId, Job> jobs_;
  std::unordered_map<Token, BatchId> batchOf_;

  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{true};
  mutable std::mutex mutex_;   // guards what follows
  std::vector<BatchId> done_;  // told by the client, not yet answered
  AgentClients::Counters counters_;
  std::unique_ptr<client::Client> client_;  // uses the jobs' memory until it is gone
  std::thread thread_;
};

}  // namespace kvpool::agent
