// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "ascend/core/actions.h"

namespace kvpool::ascend {

/// Actions for threads, in the order in which they are to be done. The end of a channel takes its thread for a second
/// when the peer hangs, and many may hang together: half of the threads at most end channels at a time, so that
/// transfers with other peers have the rest. Where there is one thread, ends and the rest alternate.
class ActionQueue {
 public:
  explicit ActionQueue(uint32_t threads) : endsMax_(std::max<uint32_t>(threads / 2, 1)), alternates_(threads <= 1) {}

  /// Any but Finish.
  void push(Action action);
  /// The next one, if there is one for another thread now. `onlyEnds`: no transfer is to begin, so all threads may end
  /// channels.
  std::optional<Action> next(bool onlyEnds);
  /// A Disconnect that next() gave was answered.
  void ended() { --ending_; }

  /// The one that yields to all others and comes next; null when there is none.
  [[nodiscard]] const Disconnect* yielding() const;
  /// Something waits for that one: it comes before all others.
  void promote();

 private:
  std::optional<Action> nextEnd();

  const uint32_t endsMax_;
  const bool alternates_;
  bool wasEnd_ = false;  // the latest that was given
  uint32_t ending_ = 0;
  std::deque<Action> others_;
  std::deque<Disconnect> awaited_;
  std::deque<Disconnect> ends_;
  std::deque<Disconnect> yielding_;
};

}  // namespace kvpool::ascend
