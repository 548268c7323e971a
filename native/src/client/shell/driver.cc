// SPDX-License-Identifier: Apache-2.0
#include "client/shell/driver.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/log.h"

namespace kvpool::client {
namespace {

using std::chrono::milliseconds;

/// While callers come and go, the client's own thread looks this often whether they still do.
constexpr milliseconds kNap{10};

}  // namespace

void Driver::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    kick();
  }
  thread_.join();
}

int64_t Driver::leftMs(Clock::time_point deadline) {
  constexpr milliseconds kLongest{1000};  // a deadline may be the end of time
  const auto left = std::chrono::floor<milliseconds>(deadline - Clock::now());
  return left < milliseconds{0} ? 0 : std::min(left, kLongest).count() + 1;
}

/// Lets `work` use the shell. A defect ends the client in order: every batch gets its status, later ones are refused.
template <typename Work>
void Driver::drive(std::unique_lock<std::mutex>& lock, Work work) {
  driven_ = true;
  lock.unlock();
  bool failed = false;
  int64_t tickMs = 0;
  try {
    work();
    tickMs = shell_.tickMs();
  } catch (const std::exception& wrong) {
    log(LogLevel::Error, std::string("the client gives up: ") + wrong.what());
    failed = true;
    shell_.shutDown();
  }
  lock.lock();
  driven_ = false;
  tickMs_ = tickMs;
  if (failed) running_ = false;
}

void Driver::turn(std::unique_lock<std::mutex>& lock, int64_t waitMs) {
  ++turnsOfCallers_;
  drive(lock, [this, waitMs] { shell_.round(waitMs); });
}

void Driver::submit(std::unique_lock<std::mutex>& lock, Submission submission, bool waits) {
  ++unfinished_;
  if (driven_) {
    shell_.post(std::move(submission));
  } else {
    if (waits) ++turnsOfCallers_;
    drive(lock, [&] { shell_.submit(std::move(submission)); });
    changed();  // who waits may run the shell again
  }
  if (!waits) kick();
}

void Driver::cancel(BatchId batch) {
  shell_.postCancel(batch);
  kick();
}

void Driver::finished() {
  --unfinished_;
  changed();
}

void Driver::park(std::unique_lock<std::mutex>& lock, Clock::time_point deadline) {
  ++parked_;
  changed_.wait_for(lock, milliseconds(leftMs(deadline)));
  --parked_;
}

/// A caller leaves: another one takes its place, or the client's own thread if somebody's batch still runs.
void Driver::handOver() {
  if (driven_) return;
  if (parked_ > 0) {
    changed_.notify_all();
  } else if (unfinished_ > 0) {
    kick();
  }
}

void Driver::kick() {
  wanted_ = true;
  if (polling_) {
    shell_.wake();
  } else {
    kicked_.notify_one();
  }
}

void Driver::run() {
  std::unique_lock lock(mutex_);
  uint64_t seen = turnsOfCallers_;
  while (!stopping_ && running_) {
    const bool callersAreAtIt = callers_ > 0 || turnsOfCallers_ != seen;
    if (callersAreAtIt && !wanted_) {
      seen = turnsOfCallers_;
      kicked_.wait_for(lock, kNap, [this] { return wanted_; });
      continue;
    }
    wanted_ = false;
    polling_ = true;
    const int64_t tickMs = tickMs_;
    lock.unlock();
    shell_.await(tickMs);
    lock.lock();
    polling_ = false;
    if (driven_) {
      seen = turnsOfCallers_ - 1;  // they are at it: nap
      continue;
    }
    drive(lock, [this] { shell_.round(0); });
    changed();
  }
  if (!running_) return;
  while (driven_)
    park(lock, Clock::now() + kNap);
  drive(lock, [this] {
    shell_.round(0);  // admits what was posted last, so that it ends as well
    shell_.shutDown();
  });
  running_ = false;
}

}  // namespace kvpool::client
