// SPDX-License-Identifier: Apache-2.0
// Sockets around MasterModel: one thread, one event loop.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "master/master_model.h"
#include "net/event_loop.h"
#include "secure/session.h"
#include "wire/frame.h"

namespace kvpool::test {

class MasterServer {
 public:
  explicit MasterServer(MasterModel::Settings settings) : model_(std::move(settings)) {}

  /// From now on connections must speak TLS.
  void secure(std::shared_ptr<const secure::Credentials> credentials) { credentials_ = std::move(credentials); }
  /// In the loop's thread: shows these to new connections, and proves them on those that are there.
  void renew(std::shared_ptr<const secure::Credentials> credentials);
  /// In the loop's thread: of connections that have ended since their peers' certificates had, and of proofs that were
  /// taken.
  [[nodiscard]] int expired() const { return expired_; }
  [[nodiscard]] int proven() const { return proven_; }
  /// In the loop's thread: why proofs of peers, and of this master by peers, were not taken.
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  /// Port 0: any; see port().
  Status listen(const std::string& host, uint16_t port);
  [[nodiscard]] uint16_t port() const { return port_; }
  MasterModel& model() { return model_; }
  net::EventLoop& loop() { return loop_; }

  /// Serves until stop(), which any thread may call.
  void run();
  void stop();
  /// In the loop's thread: cuts every connection, as the death of the process would.
  void dropConnections();

 private:
  struct Connection {
    Fd fd;
    wire::FrameDecoder decoder;
    wire::Bytes out;
    std::unique_ptr<secure::Session> session;  // with TLS
    wire::Bytes plain;                         // to be sealed
    bool closing = false;
  };

  void acceptAll();
  void happened(uint64_t id, uint32_t events);
  bool receive(uint64_t id, Connection& connection);
  bool receiveSecured(uint64_t id, Connection& connection);
  void decode(uint64_t id, Connection& connection);
  bool aboutCertificates(uint64_t id, Connection& connection, wire::Body body);
  void endExpired();
  void deliver();
  void flush(uint64_t id);
  void close(uint64_t id);

  net::EventLoop loop_;
  MasterModel model_;
  Fd listener_;
  uint16_t port_ = 0;
  uint64_t lastId_ = 0;
  std::shared_ptr<const secure::Credentials> credentials_;
  std::map<uint64_t, std::unique_ptr<Connection>> connections_;
  int expired_ = 0;
  int proven_ = 0;
  std::vector<std::string> problems_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace kvpool::test
