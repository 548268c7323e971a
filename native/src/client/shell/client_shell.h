// SPDX-License-Identifier: Apache-2.0
// The I/O around the client core: feeds it what sockets, copies and the clock say, and does what it asks. One thread at
// a time runs it; which one, the driver decides.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/log.h"
#include "client/core/client_core.h"
#include "client/shell/ascend_staging.h"
#include "client/shell/copier.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "net/streams.h"
#include "secure/security.h"
#include "ucx/worker.h"

namespace kvpool::client {

class ClientShell : private net::Stream::Listener, private Copier::Listener {
 public:
  /// Told in the thread that runs the shell.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void batchFinished(const FinishBatch& finished) = 0;
    /// The core's readiness may have changed.
    virtual void stateChanged() = 0;
  };

  /// What other threads may know about the core.
  struct Snapshot {
    Statistics statistics;
    std::string explanation;
    Status readiness{KV_CONNECT_FAILED, "not connected yet"};
    bool hopeless = false;
  };

  /// Where the settings have ascend, its engine of CANN is on the device of this thread's context. `busyWait`: the
  /// longest that round() looks for something before it sleeps.
  ClientShell(const Config& config, std::chrono::microseconds busyWait, std::shared_ptr<secure::Security> security,
              Listener& listener);

  /// Why CANN, which is in the settings, cannot be used; OK while it can, and where it is not.
  [[nodiscard]] const Status& ascendProblem() const { return ascendProblem_; }

  /// Our engine of CANN; null without one.
  [[nodiscard]] ascend::Station* station() { return ascend_ ? &ascend_->station() : nullptr; }

  // In the thread whose turn it is.
  /// Takes in a batch and does what can be done at once.
  void submit(Submission submission);
  /// Waits for something to happen, at most `waitMs`, and does what follows from it.
  void round(int64_t waitMs);
  /// How long nothing needs to be done when no socket says so.
  [[nodiscard]] int64_t tickMs() const { return ucxBusy_ ? 0 : core_.tickMs(); }
  /// Ends every batch with KV_CLOSED. Nothing may be called but snapshot() afterwards.
  void shutDown();

  // From any thread. The caller bounds what it posts.
  /// Takes in a batch in the round that runs now, or the next one.
  void post(Submission submission);
  void postCancel(BatchId batch);
  /// Waits until a round would find something to do.
  void await(int64_t waitMs) const { loop_.await(static_cast<int>(waitMs)); }
  /// Ends a wait.
  void wake() { loop_.wake(); }
  [[nodiscard]] Snapshot snapshot() const;

 private:
  void settle() {
    streams_.settle([this] { performAll(); });
  }
  void performAll();
  void publishSnapshot();
  void watchCertificates();
  Result<std::unique_ptr<OfferedMemory>> offeredMemory(uint64_t bytes);
  Result<std::unique_ptr<OfferedMemory>> exposedMemory(uint64_t bytes);
  void settleUcx();
  void drop(ConnectionId id);

  void perform(const Dial& dial);
  void perform(SendFrame& send);
  void perform(const SendPayload& send);
  void perform(const ReceivePayload& receive);
  void perform(const GivePayloadUp& given);
  void perform(SendStaging& send);
  void perform(const OfferStaging& offer);
  void perform(const MapSegments& map);
  void perform(const CopyToStaging& copy) { copier_.add(copy); }
  void perform(const CopyFromSegment& copy) { copier_.add(copy); }
  void perform(const CopyFromStaging& copy) { copier_.add(copy); }
  void perform(const CancelCopy& cancel) { copier_.cancel(cancel.connection, cancel.transfer); }
  void perform(const Close& close) { drop(close.connection); }
  void perform(const Note& note) { log(LogLevel::Warning, note.text); }
  void perform(const FinishBatch& finished);

  void streamOpened(ConnectionId id) override;
  void streamEnded(ConnectionId id, const net::Stream::Ending& ending) override;
  void streamMalformed(ConnectionId id, const std::string& what) override;
  void frameArrived(ConnectionId id, wire::Body body) override;
  void bytesReceived(ConnectionId id) override;
  void bytesSent(ConnectionId id, uint64_t frameBytes) override;
  void payloadSent(ConnectionId id, TransferId transfer) override;
  void payloadReceived(ConnectionId id, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc) override;
  void copiedToStaging(ConnectionId id, TransferId transfer, uint32_t crc) override;
  void copiedFromSegment(ConnectionId id, TransferId transfer, int32_t status, uint32_t crc) override;

  Listener& listener_;
  ClientCore core_;
  const std::shared_ptr<secure::Security> security_;
  net::EventLoop loop_;
  net::Resolver resolver_;
  const std::optional<RemoteProtocol> remote_;
  // Both outlive what the copier has of them.
  std::unique_ptr<AscendStaging> ascend_;
  Status ascendProblem_;
  std::unique_ptr<ucx::Worker> ucx_;  // once a node was to be reached with it
  Copier copier_;
  net::BusyWait busy_;
  net::Streams streams_;
  bool ucxBusy_ = false;  // it has more to do than one round may
  Time lastTick_ = 0;
  Time lastWatch_ = 0;

  mutable std::mutex mutex_;
  Snapshot snapshot_;
};

}  // namespace kvpool::client
