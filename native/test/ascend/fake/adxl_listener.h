// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "call_order.h"
#include "registered_memory.h"

namespace fake_ascend {

/// The side of an engine that others connect to: a thread that accepts, and one for each connection.
class Listener {
 public:
  Listener(RegisteredMemory& memory, bool staged);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// False if the address is taken or not of this machine.
  bool start(const Address& address);
  void stop();

 private:
  struct Connection {
    explicit Connection(int file) : socket(file) {}
    Socket socket;
    std::atomic<uint64_t> channel{0};
    std::atomic<bool> ended{false};
    std::thread thread;
  };

  void accept();
  void serve(Connection& connection);
  /// False when the connection must end.
  bool answer(Connection& connection, const Header& request);
  bool welcome(Connection& connection, const Header& request);
  bool dismiss(Connection& connection, const Header& request);
  /// Moves nothing if the status that a rule demands is not 0.
  bool move(Connection& connection, const Header& request, Status status);
  bool giveBytes(Connection& connection, const std::vector<RemotePiece>& pieces);
  bool takeBytes(Connection& connection, const std::vector<RemotePiece>& pieces, bool wanted, Status& status);
  bool isReachable(const RemotePiece& piece) const;
  bool reply(Connection& connection, Status status, uint64_t count);
  void removeEnded();

  RegisteredMemory& memory_;
  const bool staged_;
  const uint64_t generation_;
  int file_ = -1;
  int wake_ = -1;
  Closing closing_;
  std::thread thread_;
  std::mutex mutex_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace fake_ascend
