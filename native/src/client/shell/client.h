// SPDX-License-Identifier: Apache-2.0
// A client of its own: the core in its shell, driven by the threads that wait or by its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/status.h"
#include "client/shell/client_shell.h"
#include "client/shell/driver.h"
#include "client/shell/frontend.h"
#include "client/shell/pending_batches.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

struct ClientSettings {
  Config config;
  int64_t readyTimeoutMs = kReadyTimeoutMs;
  uint32_t queueOpsMax = KV_BATCH_MAX;
  std::chrono::microseconds busyWait = net::kBusyWait;
  std::shared_ptr<secure::Security> security = std::make_shared<secure::Security>();
  /// Told which batch is done, or 0 when a leader was found or lost. Locks are held: it only may note it and wake.
  std::function<void(uint64_t batch)> somethingHappened;
};

class Client final : public Frontend, private ClientShell::Listener {
 public:
  /// Waits until a leader serves. Fails with a sentence that names each master and why it did not do.
  static Result<std::unique_ptr<Client>> connect(ClientSettings settings);
  /// Does not wait: batches do, until their deadline.
  static std::unique_ptr<Client> begin(ClientSettings settings);
  ~Client() override;

  Result<uint64_t> submit(OpCode op, kv_op* table, uint32_t count, const BatchOptions& options) override;
  int32_t wait(uint64_t batch, uint32_t timeoutMs) override;
  /// Ends what is left of a batch with KV_CLOSED. It is still waited for.
  void cancel(uint64_t batch);

  [[nodiscard]] std::string explanation() const override;
  void explain(std::string sentence) override;
  [[nodiscard]] Statistics statistics() const override;
  /// KV_OK while a leader serves us; otherwise why none does.
  [[nodiscard]] Status readiness() const { return shell_.snapshot().readiness; }
  /// False after a defect ended the client.
  [[nodiscard]] bool running() const;

 private:
  explicit Client(ClientSettings settings);
  Status awaitLeader();
  void batchFinished(const FinishBatch& finished) override;
  void stateChanged() override;

  const ClientSettings settings_;
  // Guarded by the driver's mutex.
  PendingBatches pending_;
  std::string refusal_;       // latest sentence of our own, newer than the core's
  std::string refusalAfter_;  // the core's explanation when it was said
  ClientShell shell_;
  mutable Driver driver_{shell_};  // last: its thread uses all of the above
};

}  // namespace kvpool::client
