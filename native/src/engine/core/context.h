// SPDX-License-Identifier: Apache-2.0
// What the parts of the engine's core share.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/principal.h"
#include "engine/core/actions.h"
#include "engine/core/batch_table.h"
#include "engine/core/limits.h"
#include "engine/core/region_table.h"
#include "wire/handshake.h"

namespace kvpool::engine {

struct Config {
  wire::Identity me;
  int64_t connectTimeoutMs = kConnectTimeoutMs;
  int64_t transferTimeoutMs = kTransferTimeoutMs;
  int64_t idleTimeoutMs = kIdleTimeoutMs;
  bool tcp = true;      // bytes may go by the connection; else only by CANN
  ProcessName process;  // this one, if bytes may go from memory to memory within one machine
  std::string ascend;   // HOST:PORT of our engine of CANN, which has our regions too; empty: none
};

struct Counters {
  uint64_t retries = 0;
  uint64_t peerRestarts = 0;
  uint64_t servedWrites = 0;
  uint64_t servedWriteBytes = 0;
  uint64_t servedReads = 0;
  uint64_t servedReadBytes = 0;
  uint64_t refusedRequests = 0;
  uint64_t checksumFailures = 0;
  uint64_t protocolErrors = 0;
  uint64_t notifiesSent = 0;
  uint64_t notifiesReceived = 0;
  uint64_t sameMachineRequests = 0;  // of ours, that went from memory to memory
  uint64_t sameMachineBytes = 0;
  uint64_t sameMachineRefusals = 0;
};

class PeerLink;

struct Context {
  explicit Context(Config given) : config(std::move(given)) {}

  const Config config;
  std::optional<Principal> self;  // by our certificate; nothing: we have none, and peers show none
  RegionTable regions;
  BatchTable batches;
  std::deque<Notification> notifications;  // of peers, for the application
  Counters counters;
  std::string explanation;         // of the latest failure
  std::string sameMachineRefusal;  // why the latest pair of processes of this machine goes by tcp
  std::vector<Action> actions;
  std::unordered_map<ConnectionId, PeerLink*> links;  // by the connection each has now

  [[nodiscard]] const Principal* ourselves() const { return self ? &*self : nullptr; }
  void refusedSameMachine(const std::string& peer, const std::string& why) {
    ++counters.sameMachineRefusals;
    sameMachineRefusal = peer + ": " + why;
    act(Note{LogLevel::Debug, "bytes of the pair go by tcp, though both are on this machine: " + sameMachineRefusal});
  }
  ConnectionId newConnection() { return ++lastConnection_; }
  uint64_t newRequest() { return ++lastRequest_; }
  template <typename Wanted>
  void act(Wanted action) {
    actions.emplace_back(std::move(action));
  }

 private:
  ConnectionId lastConnection_ = 0;
  uint64_t lastRequest_ = 0;
};

}  // namespace kvpool::engine
