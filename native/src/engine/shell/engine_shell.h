// SPDX-License-Identifier: Apache-2.0
// The I/O around the engine's core: one listener, streams, names resolved, the clock. Whoever holds the engine's mutex
// may call it; only await() and wake() need no mutex.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "engine/core/engine_core.h"
#include "engine/shell/ascend_moves.h"
#include "engine/shell/neighbor_copies.h"
#include "engine/shell/other_process.h"
#include "net/acceptor.h"
#include "net/event_loop.h"
#include "net/handshake_bounds.h"
#include "net/refusal_log.h"
#include "net/resolver.h"
#include "net/streams.h"
#include "secure/security.h"

namespace kvpool::engine {

class EngineShell : private net::Stream::Listener {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void batchFinished(const FinishBatch& finished) = 0;
  };

  /// `moves` is null where CANN is not used; the configuration says which. `security` says whether connections are TLS.
  EngineShell(Config config, Fd listener, std::unique_ptr<AscendMoves> moves,
              std::shared_ptr<secure::Security> security, Listener& events);

  /// For calls on the core; settle() is due after them.
  EngineCore& core() { return core_; }
  [[nodiscard]] const EngineCore& core() const { return core_; }
  /// Does what the core wants and sends what can be sent.
  void settle() {
    streams_.settle([this] { performAll(); });
  }
  /// Takes in what happened since the last round.
  void round();
  /// Waits until a round would find something to do. With `busy` it may look for a while before it sleeps.
  void await(int64_t waitMs, net::BusyWait* busy = nullptr) const { loop_.await(static_cast<int>(waitMs), busy); }
  void wake() { loop_.wake(); }
  [[nodiscard]] uint64_t peersRefused() const { return refusals_.count(); }
  /// Null where CANN is not used.
  [[nodiscard]] AscendMoves* moves() { return moves_.get(); }
  [[nodiscard]] const AscendMoves* moves() const { return moves_.get(); }
  /// Ends all moves, and waits for that.
  void endMoves();

 private:
  /// A connection that was accepted, whose peer is not authenticated yet: the core has not heard of it.
  struct Unopened {
    std::string peer;
    net::Host source = {};
  };

  void takeMoves();
  void tick();
  void watchCertificates();
  void accepted(Fd socket, const net::SocketAddress& peer);
  void acceptedSecured(ConnectionId id, Fd socket, Unopened unopened);
  void performAll();
  [[nodiscard]] std::optional<Introduction> introduction(int socket) const;

  void perform(const Dial& dial);
  void perform(SendFrame& send);
  void perform(const SendPayload& send);
  void perform(const ReceivePayload& receive);
  void perform(const DropPayload& drop);
  void perform(const Welcomed& welcomed);
  void perform(const Close& close);
  void perform(const Move& move) { moves_->begin(move); }
  void perform(const ForgetChannel& gone) { moves_->forget(gone.endpoint); }
  void perform(const Meet& meet);
  void perform(Pull& pull) { copies_.add(std::move(pull)); }
  void perform(const DropPull& drop) { copies_.drop(drop.connection, drop.pull); }
  void perform(const FinishBatch& finished) { events_.batchFinished(finished); }
  void perform(const PeerRefused& refused);
  void perform(const Note& note) { log(note.level, note.text); }

  void streamOpened(ConnectionId id) override;
  void streamEnded(ConnectionId id, const net::Stream::Ending& ending) override;
  void streamMalformed(ConnectionId id, const std::string& what) override;
  void frameArrived(ConnectionId id, wire::Body body) override;
  void bytesReceived(ConnectionId id) override;
  void bytesSent(ConnectionId id, uint64_t frameBytes) override;
  void payloadSent(ConnectionId id, PayloadId payload) override;
  void payloadReceived(ConnectionId id, PayloadId payload, uint32_t computedCrc, uint32_t sentCrc) override;

  Listener& events_;
  EngineCore core_;
  const std::shared_ptr<secure::Security> security_;
  std::shared_ptr<const secure::Credentials> identified_;  // that the core knows us by
  net::EventLoop loop_;
  std::unique_ptr<AscendMoves> moves_;
  OtherProcess otherProcess_;
  NeighborCopies copies_{otherProcess_};
  net::Resolver resolver_;
  int handshakeSteps_ = 0;  // left in this round; outlives the streams
  net::HandshakeBounds bounds_;
  net::RefusalLog refusals_;
  std::unordered_map<ConnectionId, Unopened> unopened_;
  net::Streams streams_;
  net::Acceptor acceptor_;
  Time lastTick_ = 0;
  Time hostsWatchedAt_ = 0;
  Time certificatesWatchedAt_ = 0;
};

}  // namespace kvpool::engine
