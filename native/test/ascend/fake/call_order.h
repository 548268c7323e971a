// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

#include "fake_api.h"
#include "net.h"

namespace fake_ascend {

/// Closed once; a thread that waits for something else learns of it.
class Closing {
 public:
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  bool isClosed() {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  /// Waits until then; kBroken if it is closed before.
  Io waitUntil(Deadline then) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, then, [this] { return closed_; }) ? Io::kBroken : Io::kTimedOut;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
};

/// Obeys a rule's delay and hang: kTimedOut at the deadline, kBroken if closed meanwhile.
inline Io obeyDelay(const fake_ascend_order& order, Closing& closing, Deadline deadline) {
  constexpr auto kLook = std::chrono::milliseconds(2);
  const Deadline delayed = Clock::now() + std::chrono::microseconds(order.delay_us);
  while (true) {
    const Deadline now = Clock::now();
    const bool hangs = order.hang != 0 && fake_ascend_hangs(order.hang) != 0;
    if (!hangs && now >= delayed) return closing.isClosed() ? Io::kBroken : Io::kDone;
    if (now >= deadline) return Io::kTimedOut;
    const Deadline next = hangs ? now + kLook : delayed;
    if (closing.waitUntil(next < deadline ? next : deadline) == Io::kBroken) return Io::kBroken;
  }
}

}  // namespace fake_ascend
