// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/status.h"
#include "kvpool/kvpool.h"
#include "net/event_loop.h"
#include "net/socket_file.h"
#include "node/core/node_core.h"
#include "node/shell/settings.h"
#include "node/shell/shell.h"
#include "ssd/tier_file.h"
#include "store/directory.h"
#include "store/prefault.h"
#include "store/segment_file.h"
#include "store/set_aside.h"

namespace kvpool::node {

/// A running storage node: segment, core, shell and the one thread they live in.
class Node {
 public:
  /// Opens the segment, recovers, listens, starts the thread. Every failure has a sentence.
  static Result<std::unique_ptr<Node>> start(const NodeSettings& settings);
  /// Ends the thread and all connections; the segment file stays as it is.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// A copy at most one turn of the loop old; struct_size is left alone.
  kv_node_stats stats() const;
  /// Why a protocol that was asked for is not served; empty when all are.
  [[nodiscard]] const std::string& explanation() const { return remoteProblem_; }
  /// False when the thread ended because of a defect.
  [[nodiscard]] bool running() const { return running_.load(std::memory_order_relaxed); }

 private:
  Node() = default;
  Status open(const NodeSettings& settings);
  static Status judgeName(const NodeSettings& settings, const secure::Security& security);
  Status openTier(const NodeSettings& settings);
  void countAside(const NodeSettings& settings);
  Status listen(const NodeSettings& settings, Shell::Listeners* listeners);
  CoreConfig coreConfig(const NodeSettings& settings, bool secured) const;
  void beginPrefault();
  void run();
  void settle();
  void leave();
  Status openRemote(const NodeSettings& settings, std::optional<RemoteSource>& source);
  void publishStats();

  uint64_t incarnation_ = 0;
  uint32_t mastersTotal_ = 0;
  uint16_t port_ = 0;
  net::SocketFile socketFile_;
  uint32_t protocols_ = KV_PROTOCOL_TCP;
  uint64_t tierStagingBytes_ = 0;
  std::string remoteProblem_;
  store::Recovery recovery_;
  store::StoreGate gate_;
  store::SegmentFile segment_;
  std::optional<store::StatePages> state_;
  std::optional<store::Directory> directory_;
  std::optional<ssd::TierFile> tier_;
  std::optional<ssd::Table> table_;
  std::string tierProblem_;
  store::AsideFiles aside_;
  std::optional<NodeCore> core_;
  net::EventLoop loop_;
  std::optional<Shell> shell_;
  std::optional<store::Prefault> prefault_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> running_{true};
  mutable std::mutex statsMutex_;
  CoreSnapshot stats_;
  RemoteOutcomes outcomes_;
  ascend::RouteCounters routes_;
  Shell::TlsCounts tls_;
  Shell::TierTimes tierTimes_;
  std::thread thread_;
};

}  // namespace kvpool::node
