// SPDX-License-Identifier: Apache-2.0
// Decides which thread looks after the engine's sockets. A caller that waits for its batch does: to be woken by another
// thread takes longer than a small transfer. Without such a caller the engine's own thread does, which also serves
// peers; so it comes back soon after the last caller left. Every method is called with the engine's mutex held.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/shell/engine_shell.h"
#include "net/busy_wait.h"

namespace kvpool::engine {

class Attendance {
 public:
  using Clock = std::chrono::steady_clock;

  /// `busyWait`: the longest that a caller looks for something before it sleeps.
  Attendance(EngineShell& shell, std::chrono::microseconds busyWait);

  /// A caller waits until done() or the deadline. `round` takes in what the sockets have. After end() only the
  /// own thread has something left to do. Returns whether done() came true.
  template <typename Done, typename Round>
  bool await(std::unique_lock<std::mutex>& lock, Clock::time_point deadline, Done done, Round round) {
    while (!done() && Clock::now() < deadline) {
      if (attended_ || over_) {
        changed_.wait_until(lock, deadline);
        continue;
      }
      attended_ = true;
      ++turns_;
      do {
        look(lock, deadline);
        round();
      } while (!over_ && !done() && Clock::now() < deadline);
      leave();
    }
    return done();
  }

  /// What callers wait for may have happened.
  void changed() { changed_.notify_all(); }

  /// The own thread waits, at most `tickMs`. Returns whether it is to do a round: not while callers do.
  bool watch(std::unique_lock<std::mutex>& lock, int64_t tickMs);
  /// From now on the time matters: the own thread may sleep for no longer than a tick.
  void hurry() {
    if (quiet_) shell_.wake();
  }
  /// The own thread is to come at once, and callers are no longer to look themselves.
  void end();

 private:
  void look(std::unique_lock<std::mutex>& lock, Clock::time_point deadline);
  void leave();

  EngineShell& shell_;
  net::BusyWait busy_;               // of the caller that is at it
  std::condition_variable changed_;  // callers that another one attends to
  std::condition_variable nap_;      // the own thread, while callers are at it
  uint64_t turns_ = 0;               // of callers
  uint64_t seen_ = 0;                // of these, by the own thread
  bool attended_ = false;            // a caller is at it
  bool asleep_ = false;              // the own thread waits to be told that he left
  bool quiet_ = false;               // the own thread waits for longer than a tick
  bool over_ = false;
};

}  // namespace kvpool::engine
