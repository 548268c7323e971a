// SPDX-License-Identifier: Apache-2.0
// The I/O thread around the client core: feeds it what sockets, copies and the clock say, and does what it asks.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "client/client_core.h"
#include "client/connection.h"
#include "client/copier.h"
#include "net/event_loop.h"
#include "net/resolver.h"

namespace kvpool::client {

class ClientShell : private Connection::Listener, private Copier::Listener {
 public:
  /// Told on the I/O thread.
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

  ClientShell(Config config, Listener& listener);
  ~ClientShell() override { stop(); }

  void start();
  /// Ends every batch with KV_CLOSED and joins the thread.
  void stop();

  // From any thread. The caller bounds what it submits.
  void submit(Submission submission);
  [[nodiscard]] Snapshot snapshot() const;
  /// False when the thread ended because of a defect; what is submitted then never ends.
  [[nodiscard]] bool running() const { return running_; }

  /// Milliseconds of the clock that deadlines are in.
  static Time now();

 private:
  void run();
  void round();
  void settle();
  void performAll();
  void publishSnapshot();
  Connection* find(ConnectionId id);
  void bury(ConnectionId id);

  void perform(const Dial& dial);
  void perform(SendFrame& send);
  void perform(const SendPayload& send);
  void perform(const ReceivePayload& receive);
  void perform(const SendStaging& send);
  void perform(const MapSegments& map);
  void perform(const CopyToStaging& copy) { copier_.add(copy); }
  void perform(const CopyFromSegment& copy) { copier_.add(copy); }
  void perform(const CancelCopy& cancel) { copier_.cancel(cancel.connection, cancel.transfer); }
  void perform(const Close& close) { bury(close.connection); }
  void perform(const FinishBatch& finished);

  void connectionOpened(ConnectionId id) override;
  void connectionEnded(ConnectionId id, const std::string& reason) override;
  void frameArrived(ConnectionId id, wire::Body body) override;
  void bytesMoved(ConnectionId id) override;
  void payloadSent(ConnectionId id, TransferId transfer) override;
  void payloadReceived(ConnectionId id, TransferId transfer, uint32_t computedCrc, uint32_t sentCrc) override;
  void copiedToStaging(ConnectionId id, TransferId transfer, uint32_t crc) override;
  void copiedFromSegment(ConnectionId id, TransferId transfer, int32_t status, uint32_t crc) override;

  Listener& listener_;
  ClientCore core_;
  net::EventLoop loop_;
  net::Resolver resolver_;
  Copier copier_;
  std::unordered_map<ConnectionId, std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> buried_;  // may still be on the call stack
  std::vector<ConnectionId> toFlush_;
  Time lastTick_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> running_ = true;
  std::thread thread_;

  mutable std::mutex mutex_;
  Snapshot snapshot_;
};

}  // namespace kvpool::client
