// SPDX-License-Identifier: Apache-2.0
// What the parts of the client core share: settings, the time of the current input, numbers to give out, and the
// actions collected for the shell.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/durations.h"
#include "client/core/actions.h"
#include "client/core/limits.h"
#include "kvpool/kvpool.h"
#include "wire/handshake.h"
#include "wire/staging_offer.h"

namespace kvpool::client {

struct Config {
  std::vector<std::string> masters;  ///< HOST:PORT, 1 to kMastersMax
  wire::Identity me;                 ///< role client, any pool
  bool tcp = true;
  bool shm = true;
  std::optional<RemoteProtocol> remote = {};  ///< between machines, before tcp
  bool remoteOnly = false;  ///< nodes that it does not reach are not used; tcp carries requests, and what is not staged
  std::string bootId;       ///< of this machine; a node with the same one can share memory with us
  int64_t connectTimeoutMs = kConnectTimeoutMs;
  int64_t transferTimeoutMs = kTransferTimeoutMs;
  int64_t idleTimeoutMs = kIdleTimeoutMs;  ///< of connections to storage nodes; the one to the master has heartbeats
  size_t standbys = 0;                     ///< masters that stay connected beside the leader
  uint64_t seed = 1;                       ///< of the jitter in retries and of the order of replicas
};

/// Requests to the leader, as the header numbers them.
inline constexpr size_t kRequestKinds = KV_REQUESTS;

/// Of one protocol that moves bytes between machines.
struct RemoteUse {
  uint64_t bytes = 0;
  uint64_t lanes = 0;     ///< connections to nodes on which it was put to use, all in all
  uint64_t refusals = 0;  ///< nodes to which it was wanted and could not be had
};

struct Statistics {
  bool leaderKnown = false;
  uint64_t epoch = 0;
  uint64_t puts = 0;
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t putBytes = 0;
  uint64_t getBytes = 0;
  uint64_t shmBytes = 0;
  uint64_t shmRefusals = 0;  ///< tries to attach a node on this machine that failed
  RemoteUse ucx;
  RemoteUse ascend;
  uint64_t retries = 0;
  uint64_t checksumFailures = 0;
  uint64_t leaderChanges = 0;
  std::array<Durations, kRequestKinds> requests;  ///< that were answered
  // Of batches as their callers see them; whoever keeps those fills these in.
  Durations putBatches;
  Durations getBatches;
  Durations singlePuts;  ///< of the batches, those of one line
  Durations singleGets;
};

class Context {
 public:
  explicit Context(Config settings) : config(std::move(settings)), random_(config.seed) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Config config;
  bool sharesMemory = true;  ///< with nodes of this machine, if the configuration has it
  Time now = 0;
  Statistics statistics;
  std::vector<Action> actions;

  template <typename T>
  void act(T action) {
    actions.emplace_back(std::move(action));
  }

  ConnectionId newConnection() { return ++lastConnection_; }
  /// Names requests to masters and transfers alike, so that no number is used twice on any connection. They grow, over
  /// all connections: a master tells by that what comes late, of one that was given up.
  uint64_t newRequest() { return ++lastRequest_; }

  /// 0 to `end` - 1. The modulo's bias does not matter here, and it is the same on every platform.
  uint64_t random(uint64_t end) { return random_() % end; }

  /// The wait before try number `attempt` (0: the first repetition).
  int64_t backoffMs(uint32_t attempt) { return backoffMs(attempt, kRetryFirstMs, kRetryLongestMs); }
  int64_t backoffMs(uint32_t attempt, int64_t firstMs, int64_t longestMs) {
    constexpr uint32_t kDoublingsMax = 10;
    const int64_t whole = std::min(firstMs << std::min(attempt, kDoublingsMax), longestMs);
    return whole / 2 + static_cast<int64_t>(random(static_cast<uint64_t>(whole / 2 + 1)));
  }

  /// Remembers the sentence behind the latest failure.
  void explain(std::string sentence) {
    explanation_ = std::move(sentence);
    ++explanations_;
  }
  /// How many there were: a failure for which none was given since its beginning is not about the latest one.
  [[nodiscard]] uint64_t explanations() const { return explanations_; }
  [[nodiscard]] const std::string& explanation() const { return explanation_; }

 private:
  std::mt19937_64 random_;
  ConnectionId lastConnection_ = 0;
  uint64_t lastRequest_ = 0;
  std::string explanation_;
  uint64_t explanations_ = 0;
};

}  // namespace kvpool::client
