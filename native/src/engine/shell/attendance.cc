// SPDX-License-Identifier: Apache-2.0
#include "engine/shell/attendance.h"

#include <algorithm>
#include <thread>

namespace kvpool::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// While callers come and go, the own thread looks this often whether they still do. A peer's request may wait as long.
constexpr milliseconds kNap{1};

}  // namespace

Attendance::Attendance(EngineShell& shell, microseconds busyWait)
    : shell_(shell), busy_(std::thread::hardware_concurrency() > 1 ? busyWait : microseconds{0}) {}

void Attendance::look(std::unique_lock<std::mutex>& lock, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  const int64_t waitMs = std::clamp<int64_t>(left.count(), 0, kTickMs);
  lock.unlock();
  shell_.await(waitMs, &busy_);
  lock.lock();
}

/// Another caller takes his place, or the own thread. That one finds out by itself after many short turns: to wake it
/// at the end of each would cost what was saved.
void Attendance::leave() {
  attended_ = false;
  changed_.notify_all();
  if (asleep_) nap_.notify_one();
}

bool Attendance::watch(std::unique_lock<std::mutex>& lock, int64_t tickMs) {
  if (!over_ && (attended_ || turns_ != seen_)) {
    const bool stillAtIt = attended_ && turns_ == seen_;
    seen_ = turns_;
    if (stillAtIt) {
      asleep_ = true;
      nap_.wait(lock, [this] { return !attended_ || over_; });
      asleep_ = false;
    } else {
      nap_.wait_for(lock, kNap);
    }
    return over_;
  }
  quiet_ = tickMs > kTickMs;
  lock.unlock();
  shell_.await(tickMs);
  lock.lock();
  quiet_ = false;
  return !attended_;
}

void Attendance::end() {
  over_ = true;
  shell_.wake();
  nap_.notify_one();
}

}  // namespace kvpool::engine
