// SPDX-License-Identifier: Apache-2.0
// Routes with CANN and threads: callers submit transfers, threads make what the core wants happen.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ascend/cann/engine.h"
#include "ascend/core/action_queue.h"
#include "ascend/core/routes.h"
#include "ascend/shell/mover.h"

namespace kvpool::ascend {

class Transport {
 public:
  struct Terms {
    RouteSettings routes;
    uint32_t threads = 8;
    bool async = false;  ///< transfers are begun and looked after, by one thread more, instead of waited for
  };

  /// `engine` must outlive it.
  Transport(Engine& engine, const Terms& terms);
  /// As shutDown().
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Moves all pieces between memory registered here and memory registered at the peer, or fails. `ended` is called by
  /// a thread of the transport.
  void submit(const Place& place, Direction direction, std::vector<Piece> pieces, Time timeoutMs, Ended ended);
  /// Memory was registered with the engine.
  void registered();
  /// Its channel ends when it is idle: the peer is gone, or nothing is to be moved to or from it any more.
  void forget(const std::string& endpoint);
  /// Runs `take` while no channel knows any memory of ours; transfers wait for that long.
  void withoutChannels(const std::function<void()>& take);
  /// Ends all transfers; those under way when CANN has answered, within their timeouts.
  void shutDown();

  /// With durations.
  [[nodiscard]] RouteCounters counters() const;

 private:
  struct Waiter {
    Ended ended;
    std::chrono::steady_clock::time_point began;
  };
  struct UnderWay {
    TransferId id = 0;
    TransferRequest request = nullptr;
    Time until = 0;
  };

  void work();
  void watch();
  void perform(std::unique_lock<std::mutex>& lock, const Action& action);
  void transfer(std::unique_lock<std::mutex>& lock, const Transfer& wanted);
  /// Hands out what the core wants now. Ends are told by the thread that calls this, without the mutex.
  void settle(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool over() const { return stopping_ && routes_.pending() == 0 && open_ == 0; }

  Engine& engine_;
  const bool async_;
  mutable std::mutex mutex_;
  std::condition_variable due_;
  std::condition_variable changed_;
  Routes routes_;
  ActionQueue todo_;
  size_t open_ = 0;  // actions that are not answered yet
  std::map<TransferId, Waiter> waiters_;
  Durations transferring_;
  Durations connecting_;
  std::vector<UnderWay> underWay_;  // asynchronous ones
  TransferId lastId_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace kvpool::ascend
