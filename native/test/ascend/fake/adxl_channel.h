// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "call_order.h"
#include "frames.h"
#include "net.h"

namespace fake_ascend {

/// One transfer at a time; each waits for its turn until its deadline.
class Turn {
 public:
  bool take(Deadline deadline);
  void give();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
};

/// The side of an engine that connected to another. Knows the memory that the other had registered by then, no more.
/// Once a transfer timed out or the connection broke, it fails every further one: only a new channel helps.
class Channel {
 public:
  enum class Direction { kRead, kWrite };

  static Status open(const std::string& peer, Deadline deadline, std::shared_ptr<Channel>& channel);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Tells the peer that the channel ends, by a connection of its own. The channel itself stays as it is.
  Status sayGoodbye(Deadline deadline);
  /// Ends the channel; transfers that are under way fail.
  void close();
  [[nodiscard]] bool isClosed() { return closing_.isClosed(); }

  /// After a timeout that the channel itself did not see.
  void giveUp() { broken(Io::kTimedOut); }

  Status transfer(Direction direction, std::vector<Piece> pieces, Deadline deadline);
  [[nodiscard]] const std::vector<Region>& remoteRegions() const { return regions_; }
  void heartbeat();

 private:
  Channel(std::string peer, int file, uint64_t id);

  Status greet(Deadline deadline);
  Status transferInTurn(Direction direction, std::vector<Piece>& pieces, Deadline deadline,
                        const fake_ascend_order& order);
  Status exchange(Direction direction, const std::vector<Piece>& pieces, Deadline deadline);
  Io moveBytes(Direction direction, const std::vector<Piece>& pieces, Deadline deadline);
  /// The channel is of no use from now on.
  Status broken(Io io);

  const std::string peer_;
  const uint64_t id_;
  Socket socket_;
  uint64_t generation_ = 0;
  std::vector<Region> regions_;
  Turn turn_;
  Closing closing_;
  std::atomic<bool> unusable_{false};
  std::atomic<bool> silent_{false};
};

}  // namespace fake_ascend
