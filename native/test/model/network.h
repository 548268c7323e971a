// SPDX-License-Identifier: Apache-2.0
// A network in simulated time: connections are pairs of ordered queues with random delays, and can be cut at any
// moment. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "client/core/actions.h"
#include "seed.h"
#include "wire/sbe.h"

namespace kvpool::test {

using client::Time;

/// What travels: the body of a frame, or a payload with its checksum.
struct Parcel {
  bool isPayload = false;
  wire::Bytes bytes;
  uint32_t crc = 0;
};

/// One side of connections. Numbers are those the side gave.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual void opened(uint64_t connection) = 0;
  virtual void closed(uint64_t connection, const std::string& reason) = 0;
  virtual void arrived(uint64_t connection, const Parcel& parcel) = 0;
};

/// Takes connections at an address: gives the number it knows the new connection by.
class Acceptor {
 public:
  virtual ~Acceptor() = default;
  virtual Endpoint& accept(uint64_t connection) = 0;
};

class Network {
 public:
  explicit Network(Dice& dice) : dice_(dice) {}

  [[nodiscard]] Time now() const { return now_; }
  void after(Time delay, std::function<void()> task);
  void runUntil(Time end);

  void listen(const std::string& address, Acceptor* acceptor) { listeners_[address] = acceptor; }
  void silence(const std::string& address) { listeners_.erase(address); }

  void dial(Endpoint& from, uint64_t connection, const std::string& address);
  void send(Endpoint& from, uint64_t connection, Parcel parcel);
  /// Whole frames in a row, as a core sends them.
  void sendFrames(Endpoint& from, uint64_t connection, const wire::Bytes& frames);
  void close(Endpoint& from, uint64_t connection);
  /// Ends every connection of this side, as the death of its process does; it is told nothing.
  void vanish(Endpoint& side);
  /// Cuts a random connection; both sides are told.
  void cutOne();

 private:
  struct Side {
    Endpoint* endpoint = nullptr;
    uint64_t connection = 0;
    Time lastArrival = 0;
  };
  struct Line {
    Side sides[2];
  };
  struct Task {
    Time at = 0;
    uint64_t order = 0;
    std::function<void()> run;
    bool operator>(const Task& other) const { return at != other.at ? at > other.at : order > other.order; }
  };
  using Key = std::pair<const Endpoint*, uint64_t>;

  Time delay() { return static_cast<Time>(dice_.below(dice_.oneIn(50) ? 40 : 3)); }
  void connect(Endpoint* from, uint64_t connection, const std::string& address);
  void deliver(uint64_t line, int to, const Parcel& parcel);
  void end(uint64_t line, int told, const std::string& reason);

  Dice& dice_;
  Time now_ = 0;
  uint64_t order_ = 0;
  uint64_t lastLine_ = 0;
  std::priority_queue<Task, std::vector<Task>, std::greater<>> tasks_;
  std::map<std::string, Acceptor*> listeners_;
  std::map<uint64_t, Line> lines_;
  std::map<Key, std::pair<uint64_t, int>> ends_;  // which line and side a connection is
  std::map<Key, bool> dialing_;                   // not yet connected, and whether still wanted
};

}  // namespace kvpool::test
