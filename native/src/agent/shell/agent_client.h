// SPDX-License-Identifier: Apache-2.0
// What stands behind a kv_client that goes through an agent: its core, its socket, and a thread that listens to
// it. Callers submit and send under one mutex; the thread takes answers, keeps deadlines and dials again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/core/agent_client_core.h"
#include "client/shell/frontend.h"
#include "client/shell/pending_batches.h"
#include "client/shell/staging_memory.h"
#include "net/event_loop.h"
#include "net/stream.h"

namespace kvpool::agent {

struct AgentClientSettings {
  AgentClientCore::Config core;  // its agent is the path of the socket
  int64_t readyTimeoutMs = client::kReadyTimeoutMs;
  uint32_t queueOpsMax = KV_BATCH_MAX;
};

class AgentClient final : public client::Frontend, private net::Stream::Listener {
 public:
  /// Waits until an agent has us and a leader has it. Fails with a sentence that names the socket.
  static Result<std::unique_ptr<AgentClient>> attach(AgentClientSettings settings);
  /// Ends every batch with KV_CLOSED.
  ~AgentClient() override;

  Result<uint64_t> submit(client::OpCode op, kv_op* table, uint32_t count,
                          const client::BatchOptions& options) override;
  int32_t wait(uint64_t batch, uint32_t timeoutMs) override;
  [[nodiscard]] std::string explanation() const override;
  void explain(std::string sentence) override;
  [[nodiscard]] client::Statistics statistics() const override;

 private:
  explicit AgentClient(AgentClientSettings settings)
      : settings_(std::move(settings)), core_(settings_.core), pending_(settings_.queueOpsMax) {}
  Status awaitReadiness();
  void run();
  void dialWhenDue();
  void act();

  void streamOpened(net::Stream::Id id) override;
  void streamEnded(net::Stream::Id id, const net::Stream::Ending& ending) override;
  void streamMalformed(net::Stream::Id id, const std::string& what) override;
  void frameArrived(net::Stream::Id id, wire::Body body) override;

  const AgentClientSettings settings_;
  mutable std::mutex mutex_;  // guards all that follows; the thread leaves it while it waits for the socket
  std::condition_variable changed_;
  AgentClientCore core_;
  net::EventLoop loop_;
  std::shared_ptr<net::Stream> connection_;
  std::unique_ptr<client::StagingMemory> staging_;
  client::PendingBatches pending_;
  uint64_t lastConnection_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kvpool::agent
