// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "net/event_loop.h"
#include "node/core/node_core.h"
#include "node/shell/connection.h"
#include "node/shell/dialer.h"
#include "node/shell/settings.h"
#include "node/shell/ucx_links.h"
#include "ssd/workers.h"
#include "store/segment_file.h"
#include "store/segment_guard.h"

namespace kvpool::node {

/// The segment file is no longer what it was; what() is a sentence.
class SegmentLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the core acts through: listeners, connections, dials. All of it in one thread, the one that calls turn().
class Shell final : private ConnectionEvents, private UcxEvents {
 public:
  struct Listeners {
    Fd tcp;
    Fd local;  // invalid when shm is off
  };

  /// `device` is the SSD tier's, null without one; `ucx` may be null: then no client may offer memory.
  Shell(net::EventLoop& loop, NodeCore& core, const NodeSettings& settings, const store::SegmentFile& segment,
        ssd::Device* device, Listeners listeners, std::optional<UcxSource> ucx);
  ~Shell() override;

  /// Waits for something to happen, at most until the next tick, and does what follows from it. Throws SegmentLost
  /// before anything is sent that could follow from missing bytes.
  void turn();

 private:
  void onFrame(Connection& connection, wire::Body body) override;
  void onMalformed(Connection& connection, const std::string& what) override;
  void onPayload(Connection& connection, uint32_t computed, uint32_t sent) override;
  void onFramesSent(Connection& connection, uint64_t bytes) override;
  void onPayloadSent(Connection& connection) override;

  void onUcxConnected(ConnectionId connection, const Status& outcome) override;
  void onPulled(uint64_t transfer, bool good, uint32_t computed) override;
  void onPushed(uint64_t transfer, bool good) override;
  void onUcxLost(ConnectionId connection, const std::string& why) override;

  void listen(int listener, bool local);
  void acceptAll(int listener, bool local);
  void pauseAccepting(bool pause, const std::string& why);
  Connection& add(Fd socket, bool local, const std::string& peer, const Connection::Limits& limits);
  void work(Connection& connection);
  void act();
  void finishTurn();
  void settle(Connection& connection);
  void remove(ConnectionId id);
  void tick();
  void checkSegment() const;
  Connection* find(ConnectionId id);
  void takeTierDone();

  void perform(const SendFrames& action);
  void perform(const SendSegments& action);
  void perform(const SendPayload& action);
  void perform(const ReceivePayload& action);
  void perform(const DiscardPayload& action);
  void perform(const CopyStaging& action);
  void perform(const MapStaging& action);
  void perform(const ConnectUcx& action) { ucx_->connect(action, nowMs_); }
  void perform(const PullPayload& action) { ucx_->pull(action); }
  void perform(const PushPayload& action) { ucx_->push(action); }
  void perform(const Close& action);
  void perform(const Dial& action);
  void perform(const DialSource& action);
  void perform(const Note& action);
  void perform(const TierWrite& action);
  void perform(const TierStore& action);
  void perform(const TierRead& action);
  void perform(const CancelTierRead& action);
  void perform(const SendTierPayload& action);
  void perform(const DropTierPayload& action);

  net::EventLoop& loop_;
  NodeCore& core_;
  const store::SegmentFile& segment_;
  store::SegmentGuard guard_;
  uint64_t transferTimeoutMs_;
  Listeners listeners_;
  std::vector<HostPort> masters_;
  Dialer masterDialer_;
  Dialer sourceDialer_;
  uint64_t nowMs_;
  uint64_t nextTickMs_ = 0;
  bool acceptingPaused_ = false;
  bool acceptFailed_ = false;
  ConnectionId lastId_ = 0;
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::unordered_map<ConnectionId, uint32_t> watched_;  // what the loop waits for
  std::unordered_set<ConnectionId> ready_;              // have work without the socket saying so
  std::unordered_set<ConnectionId> touched_;            // may have output, or be gone
  std::optional<UcxLinks> ucx_;
  std::unordered_map<uint64_t, ssd::BlockBuffer> tierPayloads_;
  std::optional<ssd::Workers> workers_;  // last: their threads end before what they notify
};

}  // namespace kvpool::node
