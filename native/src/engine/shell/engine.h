// SPDX-License-Identifier: Apache-2.0
// What stands behind a kv_engine. One mutex guards all of it: callers do their own sending under it, and whoever
// attends to the sockets (see attendance.h) takes in what they have and looks at the time.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ascend/cann/npu.h"
#include "base/durations.h"
#include "base/lent_memory.h"
#include "engine/shell/attendance.h"
#include "engine/shell/engine_shell.h"
#include "engine/shell/transports.h"
#include "engine/shell/unreadable_regions.h"
#include "kvpool/engine.h"
#include "secure/security.h"

namespace kvpool::engine {

struct EngineSettings {
  Config config;
  std::string listenHost = "::";
  std::string
      ascendHost;  // IP at which peers reach our engine of CANN; empty: HCCL_IF_IP, or listenHost if that is one
  uint16_t portMin = KV_ENGINE_PORT_MIN;
  uint16_t portMax = KV_ENGINE_PORT_MAX;
  uint32_t queueLinesMax = KV_BATCH_MAX;
  std::vector<Installation> transports;
  std::shared_ptr<secure::Security> security = std::make_shared<secure::Security>();
  bool trustedFabric = false;  // ascend may be used beside certificates, though it has none
  uint64_t seed = 0;
  std::chrono::microseconds busyWait = net::kBusyWait;
};

class Engine : private EngineShell::Listener {
 public:
  static Result<std::unique_ptr<Engine>> start(EngineSettings settings);
  ~Engine() override;

  struct Options {
    uint32_t timeoutMs = kBatchTimeoutMs;
    std::shared_ptr<const Notification> notify;
  };

  Status registerRegions(std::span<const kv_region> regions);
  /// Returns once neither a peer nor a batch of a client that borrows it uses that memory.
  Status unregisterRegions(std::span<const kv_region> regions);
  /// What is registered here, for clients of this process.
  [[nodiscard]] std::shared_ptr<const LentMemory> lentMemory() const { return lent_; }
  /// Of its engine of CANN; null without one.
  [[nodiscard]] std::shared_ptr<ascend::Npu> npu() const;
  /// `table` stays the caller's; its lines get their statuses before wait() says so. KV_QUEUE_FULL names the bound.
  Result<BatchId> submit(TransferOp op, kv_transfer* table, uint32_t count, const Options& options);
  /// KV_OK: done and forgotten. KV_TIMEOUT: still running. KV_INVALID_ARGUMENT: no such batch.
  int32_t wait(BatchId batch, uint32_t timeoutMs);
  Result<std::vector<Region>> describe(const std::string& peer, uint32_t timeoutMs);
  /// Takes the next notification if it fits; otherwise it stays. Nothing when none waits.
  template <typename Fits>
  std::optional<Notification> nextNotification(Fits fits);

  [[nodiscard]] bool usesAscend() const { return !settings_.config.ascend.empty(); }
  [[nodiscard]] std::string transports() const;
  [[nodiscard]] std::string explanation() const;
  void explain(std::string sentence);
  [[nodiscard]] kv_engine_stats stats() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Pending {
    kv_transfer* table = nullptr;  // the caller's
    uint32_t count = 0;
    TransferOp op = TransferOp::Write;
    Clock::time_point since;
    bool isOurs = false;  // asked by describe(), nobody may wait for it from outside
    bool done = false;
    int32_t first = KV_OK;  // status of the first line
  };

  Engine(EngineSettings settings, Fd listener, std::unique_ptr<AscendMoves> moves);
  void run();
  void round();
  void batchFinished(const FinishBatch& finished) override;
  void measure(const Pending& pending, const FinishBatch& finished);
  Result<BatchId> begin(Submission submission, Pending pending);
  void giveUp(const std::exception& defect);
  Status judgeReadable(std::span<const kv_region> regions);
  int32_t await(std::unique_lock<std::mutex>& lock, BatchId batch, uint32_t timeoutMs);

  const EngineSettings settings_;
  const uint16_t port_;
  const std::shared_ptr<LentMemory> lent_ = std::make_shared<LentMemory>();
  // Held for one register or unregister at a time, before mutex_: CANN gives memory that it knows already the same
  // handle again, which an unregister that is not over would take back.
  std::mutex registering_;
  mutable std::mutex mutex_;
  EngineShell shell_;
  UnreadableRegions unreadable_;
  Attendance attendance_;
  std::map<BatchId, Pending> pending_;
  BatchId lastBatch_ = 0;
  uint64_t linesInFlight_ = 0;
  kv_engine_stats measured_{};  // what the core does not count
  Durations durations_;         // of batches
  std::string refusal_;         // the latest sentence of our own, newer than the core's
  std::string refusalAfter_;    // the core's explanation when it was said
  bool running_ = true;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

template <typename Fits>
std::optional<Notification> Engine::nextNotification(Fits fits) {
  const std::lock_guard lock(mutex_);
  std::deque<Notification>& waiting = shell_.core().notifications();
  if (waiting.empty()) return std::nullopt;
  Notification next = waiting.front();
  if (fits(next)) waiting.pop_front();
  return next;
}

}  // namespace kvpool::engine
