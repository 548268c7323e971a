// SPDX-License-Identifier: Apache-2.0
// What stands behind a kv_client: batches with their callers' tables, waiting, registered memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.h"
#include "client/client_shell.h"
#include "client/driver.h"
#include "client/memory_registry.h"
#include "kvpool/kvpool.h"

namespace kvpool::client {

struct ClientSettings {
  Config config;
  int64_t readyTimeoutMs = kReadyTimeoutMs;
  uint32_t queueOpsMax = KV_BATCH_MAX;
};

class Client : private ClientShell::Listener {
 public:
  /// Waits until a leader serves. Fails with a sentence that names each master and why it did not do.
  static Result<std::unique_ptr<Client>> connect(ClientSettings settings);
  ~Client() override;

  struct Options {
    bool registered = false;
    bool reuse = false;     // read what is leased without asking the leader
    bool inPieces = false;  // data and length of a line name its pieces
    bool waits = false;     // the caller goes on to wait() at once
    bool force = false;
    uint32_t timeoutMs = kBatchTimeoutMs;
    uint32_t replicas = 0;
    std::string preferredNode;
    bool upsert = false;
    uint8_t pins = 0;
    uint32_t softPinMs = 0;
    const uint64_t* groups = nullptr;  // one for each line, read by submit(); NULL = none
  };

  MemoryRegistry& memory() { return memory_; }
  /// `table` stays the caller's; its lines get their statuses before wait() says so. KV_QUEUE_FULL names the bound.
  Result<uint64_t> submit(OpCode op, kv_op* table, uint32_t count, const Options& options);
  /// KV_OK: done and forgotten. KV_TIMEOUT: still running. KV_INVALID_ARGUMENT: no such batch.
  int32_t wait(uint64_t batch, uint32_t timeoutMs);
  Result<uint64_t> removeAll(bool force, uint32_t timeoutMs);

  [[nodiscard]] std::string explanation() const;
  void explain(std::string sentence);
  [[nodiscard]] Statistics statistics() const { return shell_.snapshot().statistics; }

 private:
  struct Pending {
    kv_op* table = nullptr;  // the caller's
    uint32_t count = 0;
    bool isRemoveAll = false;
    bool done = false;
    LineResult removedAll;
  };

  explicit Client(ClientSettings settings);
  Status awaitLeader();
  Submission prepare(OpCode op, const kv_op* table, uint32_t count, const Options& options) const;
  void nameMemory(Operation& line, const kv_op& asked, const Options& options) const;
  void batchFinished(const FinishBatch& finished) override;
  void stateChanged() override;

  const ClientSettings settings_;
  MemoryRegistry memory_;
  // Guarded by the driver's mutex.
  std::map<uint64_t, Pending> pending_;
  uint64_t lastBatch_ = 0;
  uint64_t opsInFlight_ = 0;
  std::string refusal_;       // latest sentence of our own, newer than the core's
  std::string refusalAfter_;  // the core's explanation when it was said
  ClientShell shell_;
  mutable Driver driver_{shell_};  // last: its thread uses all of the above
};

}  // namespace kvpool::client
