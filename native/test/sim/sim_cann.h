// SPDX-License-Identifier: Apache-2.0
// The Ascend transport of a simulated node: the production links and the core of channels and transfers. What CANN is
// called for the caller does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ascend/core/action_queue.h"
#include "ascend/core/routes.h"
#include "ascend/shell/mover.h"
#include "node/core/node_core.h"
#include "node/shell/ascend_links.h"
#include "node/shell/tier_staging.h"

namespace kvpool::sim {

/// As ascend::Transport, with calls that somebody answers instead of threads that wait.
class SimMover final : public ascend::Mover {
 public:
  struct Call {
    uint64_t number = 0;
    ascend::Action action;
  };

  SimMover(const ascend::RouteSettings& settings, uint32_t callsMax);

  void move(const ascend::Place& place, ascend::Direction direction, std::vector<ascend::Piece> pieces,
            ascend::Ended ended) override;
  void forget(const std::string& endpoint) override;
  void shutDown() override;
  [[nodiscard]] ascend::RouteCounters counters() const override { return routes_.counters(); }

  void at(ascend::Time now) { now_ = now; }
  void tick();
  /// What CANN is to be called for now; nothing while as many calls are open as may be.
  std::optional<Call> next();
  void answered(uint64_t call, ascend::TransportStatus status);

 private:
  void settle();

  const ascend::Time patienceMs_;
  const uint32_t callsMax_;
  ascend::Time now_ = 0;
  ascend::Routes routes_;
  ascend::ActionQueue todo_;
  ascend::TransferId lastId_ = 0;
  uint64_t lastCall_ = 0;
  std::map<ascend::TransferId, ascend::Ended> waiters_;
  std::map<uint64_t, ascend::Action> open_;
};

/// What the shell of a node has for clients that offer memory, and for the SSD.
class SimCann final : private node::RemoteEvents {
 public:
  struct Terms {
    ascend::RouteSettings routes;
    uint32_t callsMax = 0;
    std::span<uint8_t> staging;
    std::span<uint8_t> ofTier;  // in whole blocks; empty: the SSD reads nothing for clients' memory
  };
  SimCann(const Terms& terms, std::span<uint8_t> segment, node::NodeCore& core);
  /// As a process dies: the core hears nothing more.
  ~SimCann() override;

  void at(uint64_t nowMs) { mover_.at(static_cast<ascend::Time>(nowMs)); }
  SimMover& mover() { return mover_; }
  node::AscendLinks& links() { return links_; }
  node::TierStaging& tierStaging() { return tierStaging_; }
  void disconnect(node::ConnectionId connection);
  /// Goes on with everything that waits for no call.
  void work();
  [[nodiscard]] bool settled() const { return links_.settled(); }

  /// Transfers of which the core was told the end, since the last call.
  [[nodiscard]] std::vector<uint64_t> takeMoved() { return std::exchange(moved_, {}); }
  /// Connections that are to be closed, as their client cannot be reached any more.
  [[nodiscard]] std::vector<node::Close> takeLost() { return std::exchange(lost_, {}); }

 private:
  static node::AscendSource sourceOf(const Terms& terms, SimMover*& mover);
  void onRemoteConnected(node::ConnectionId connection, const Status& outcome) override;
  void onPulled(uint64_t transfer, bool good, uint32_t computed) override;
  void onPushed(uint64_t transfer, bool good) override;
  void onRemoteLost(node::ConnectionId connection, const std::string& why) override;
  void answerStaging();

  node::NodeCore& core_;
  bool isOver_ = false;
  SimMover* owned_ = nullptr;  // by links_
  node::TierStaging tierStaging_;
  node::AscendLinks links_;
  SimMover& mover_;
  std::vector<uint64_t> moved_;
  std::vector<node::Close> lost_;
};

}  // namespace kvpool::sim
