// SPDX-License-Identifier: Apache-2.0
// Decides which thread runs the client's shell. A caller that waits for its batch does it itself: to hand a small
// request to another thread and its answer back takes longer than the request. Without such a caller a thread of the
// client does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/quiet_thread.h"
#include "client/shell/client_shell.h"

namespace kvpool::client {

class Driver {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Driver(ClientShell& shell) : shell_(shell) {}
  ~Driver() { stop(); }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void start() {
    thread_ = startQuietThread("kvpool-client", [this] { run(); });
  }
  /// Ends every batch with KV_CLOSED and joins the thread. No caller may be waiting.
  void stop();

  /// Guards what callers wait for.
  std::mutex& mutex() { return mutex_; }
  /// False after a defect ended the shell; what is submitted then never ends. With mutex() held.
  [[nodiscard]] bool running() const { return running_; }

  /// Hands in a batch, in this thread when no other one is at it. `waits`: the caller awaits its end next, so the
  /// client's own thread need not care. `lock` holds mutex(); it is released meanwhile.
  void submit(std::unique_lock<std::mutex>& lock, Submission submission, bool waits);
  /// With mutex() held: ends a batch early, in the thread that runs the shell.
  void cancel(BatchId batch);
  /// With mutex() held: a batch has ended.
  void finished();
  /// With mutex() held: what waiting callers look at has changed.
  void changed() {
    if (parked_ > 0) changed_.notify_all();
  }

  /// Until done(), which is called with mutex() held, or the deadline: runs the shell, or waits for the thread that
  /// does. Returns whether done() came true.
  template <typename Done>
  bool await(std::unique_lock<std::mutex>& lock, Clock::time_point deadline, Done done) {
    ++callers_;
    while (!done() && Clock::now() < deadline) {
      if (driven_ || !running_) {
        park(lock, deadline);
      } else {
        turn(lock, leftMs(deadline));
      }
    }
    --callers_;
    handOver();
    return done();
  }

 private:
  static int64_t leftMs(Clock::time_point deadline);
  void park(std::unique_lock<std::mutex>& lock, Clock::time_point deadline);
  void turn(std::unique_lock<std::mutex>& lock, int64_t waitMs);
  template <typename Work>
  void drive(std::unique_lock<std::mutex>& lock, Work work);
  void handOver();
  void kick();
  void run();

  ClientShell& shell_;
  std::mutex mutex_;
  std::condition_variable changed_;  // parked callers
  std::condition_variable kicked_;   // the client's own thread while it naps
  uint32_t callers_ = 0;             // in await()
  uint32_t parked_ = 0;              // of these, and those that wait for a leader
  uint64_t unfinished_ = 0;          // batches
  uint64_t turnsOfCallers_ = 0;
  int64_t tickMs_ = 0;
  bool driven_ = false;  // a thread runs the shell
  bool wanted_ = false;  // the own thread is to look at the sockets
  bool polling_ = false;
  bool running_ = true;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace kvpool::client
