// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/acceptor.h"
#include "net/event_loop.h"
#include "net/handshake_bounds.h"
#include "net/refusal_log.h"
#include "net/streams.h"
#include "node/core/node_core.h"
#include "node/shell/dialer.h"
#include "node/shell/master_proofs.h"
#include "node/shell/remote_source.h"
#include "node/shell/settings.h"
#include "node/shell/staging_copies.h"
#include "node/shell/tier_staging.h"
#include "secure/security.h"
#include "ssd/workers.h"
#include "store/segment_file.h"
#include "store/segment_guard.h"

namespace kvpool::node {

/// The segment file is no longer what it was; what() is a sentence.
class SegmentLost : public std::exception {
 public:
  explicit SegmentLost(std::string what) : what_(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// What the core acts through: listeners, connections, dials. All of it in one thread, the one that calls turn().
class Shell final : private net::Stream::Listener, private RemoteEvents {
 public:
  /// Connections by TCP.
  struct TlsCounts {
    uint64_t handshakes = 0;
    uint64_t failures = 0;  // with plainRefusals
    uint64_t plainRefusals = 0;
    int64_t notAfterMs = 0;  // of the node's certificate; 0: it has none
  };

  struct Listeners {
    Fd tcp;
    Fd local;  // invalid when shm is off
  };

  /// `device` is the SSD tier's, null without one; without `remote` no client may offer memory.
  Shell(net::EventLoop& loop, NodeCore& core, const NodeSettings& settings, const store::SegmentFile& segment,
        ssd::Device* device, Listeners listeners, std::optional<RemoteSource> remote,
        std::shared_ptr<secure::Security> security);
  ~Shell() override;

  /// Waits for something to happen, at most until the next tick, and does what follows from it. Throws SegmentLost
  /// before anything is sent that could follow from missing bytes.
  void turn();
  [[nodiscard]] TlsCounts tls() const;
  [[nodiscard]] RemoteOutcomes remoteOutcomes() const { return remote_ ? remote_->outcomes() : RemoteOutcomes{}; }
  /// As they were at the latest tick: to count channels takes a look at each.
  [[nodiscard]] const ascend::RouteCounters& routes() const { return routes_; }
  /// Of payloads that the SSD read and wrote well, with the wait for others.
  struct TierTimes {
    Durations reading;
    Durations writing;
  };
  [[nodiscard]] const TierTimes& tierTimes() const { return tierTimes_; }

 private:
  struct Source {
    HostPort address;
    secure::Expected expected;
    bool plain = false;  // it has TLS off
  };
  /// A connection that the core hears of once its peer is authenticated.
  struct Unopened {
    enum class Kind { Client, Master, Source };
    Kind kind = Kind::Client;
    uint64_t number = 0;  // of the master or source
    std::string peer;
    net::Host host = {};  // of a client
    Source dialled = {};  // of a source
  };

  void streamOpened(ConnectionId id) override;
  void streamEnded(ConnectionId id, const net::Stream::Ending& ending) override;
  void streamMalformed(ConnectionId id, const std::string& what) override;
  void frameArrived(ConnectionId id, wire::Body body) override;
  void bytesSent(ConnectionId id, uint64_t frameBytes) override {
    if (frameBytes > 0) core_.sent(id, frameBytes);
  }
  void payloadSent(ConnectionId id, uint64_t) override { core_.payloadSent(id); }
  void payloadReceived(ConnectionId id, uint64_t payload, uint32_t computed, uint32_t sent) override;
  void beforeSending() override {
    if (guard_.lost()) checkSegment();
  }

  void onRemoteConnected(ConnectionId connection, const Status& outcome) override;
  void onPulled(uint64_t transfer, bool good, uint32_t computed) override;
  void onPushed(uint64_t transfer, bool good) override;
  void onRemoteLost(ConnectionId connection, const std::string& why) override;

  ConnectionId add(Fd socket, bool local, const std::string& peer, const net::Stream::Limits& limits);
  void begin(Fd socket, const Unopened& opens, const net::Stream::Limits& limits);
  void tell(ConnectionId id, const Unopened& opened);
  void unopened(const Unopened& opens, const net::Stream::Ending& ending);
  void accepted(Fd socket, bool local, const std::string& peer);
  void act();
  void tick();
  void watchCertificates();
  void checkSegment() const;
  void takeTierDone();
  void answerStaging();
  template <typename Copy>
  void copyStaging(const Copy& wanted);
  [[nodiscard]] std::span<uint8_t> inSegment(uint64_t offset, uint64_t length) const {
    return segment_.mapping.bytes().subspan(offset, length);
  }

  void perform(const SendFrames& action);
  void perform(const SendSegments& action);
  void perform(const SendPayload& action);
  void perform(const SendParts& action);
  void perform(const ReceivePayload& action);
  void perform(const ReceiveParts& action);
  void perform(const DiscardPayload& action);
  void perform(const CopyStaging& action);
  void perform(const CopyStagingParts& action);
  void perform(const MapStaging& action);
  void perform(const ConnectRemote& action) { remote_->connect(action, nowMs_); }
  void perform(const PullPayload& action) { remote_->pull(action); }
  void perform(const PushPayload& action) { remote_->push(action); }
  void perform(const TakeStaging& action) { tierStaging_.ask(action); }
  void perform(const PushStaged& action) {
    remote_->pushStaged(action, tierStaging_.of(action.transfer).first(action.length));
  }
  void perform(const DropStaging& action) { tierStaging_.release(action.transfer); }
  void perform(const Close& action);
  void perform(const Dial& action) { masterDialer_.dial(action.master, masters_.at(action.master), nowMs_); }
  void perform(const DialSource& action);
  void dial(uint64_t number, const Source& source);
  void perform(const Note& action) { log(action.level, action.text); }
  void perform(const TierWrite& action);
  void perform(const TierStore& action) { workers_->submit(ssd::StoreBlocks{action.batch}); }
  void perform(const TierRead& action);
  void perform(const CancelTierRead& action) { workers_->cancelRead(action.op); }
  void perform(const SendTierPayload& action);
  void perform(const SendTierParts& action);
  void perform(const DropTierPayload& action) { tierPayloads_.erase(action.op); }

  net::EventLoop& loop_;
  NodeCore& core_;
  const store::SegmentFile& segment_;
  store::SegmentGuard guard_;
  uint64_t transferTimeoutMs_;
  std::vector<HostPort> masters_;
  Dialer masterDialer_;
  Dialer sourceDialer_;
  uint64_t nowMs_;
  uint64_t nextTickMs_ = 0;
  ConnectionId lastId_ = 0;
  std::unordered_map<ConnectionId, std::string> peers_;
  const std::shared_ptr<secure::Security> security_;
  std::unordered_map<ConnectionId, Unopened> unopened_;
  net::HandshakeBounds bounds_;
  int handshakeSteps_ = 0;                        // left in this turn
  std::unordered_map<uint64_t, Source> sources_;  // that are being dialled, by their numbers
  MasterProofs proofs_;
  TlsCounts tls_;
  net::RefusalLog refusals_;
  std::unordered_map<ConnectionId, std::vector<kv_piece>> receiving_;  // where the parts go that come
  /// Of clients and sources together: of what the process has besides the segment.
  net::Stream::UnsentMemory unsent_{uint64_t{128} << 20};
  /// A client, or a node that copies are read from, that does not take answers gets no more of them.
  const net::Stream::Limits clientLimits_;
  net::Streams streams_;
  StagingCopies copies_;
  std::deque<net::Acceptor> acceptors_;
  TierStaging tierStaging_;  // in memory of remote_
  std::unique_ptr<RemoteLinks> remote_;
  ascend::RouteCounters routes_;
  TierTimes tierTimes_;
  std::unordered_map<uint64_t, ssd::BlockBuffer> tierPayloads_;
  std::optional<ssd::Workers> workers_;  // their threads end before what they notify
};

}  // namespace kvpool::node
