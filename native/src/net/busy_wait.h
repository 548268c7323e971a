// SPDX-License-Identifier: Apache-2.0
// Looking for a while before going to sleep. To fall asleep and be woken costs the waiting thread and the one that
// wakes it some microseconds each, on a virtual machine more; that is as long as a small answer takes. So who waits
// looks again and again, gives the processor to whoever wants it in between, and stops doing so where answers take
// longer.
#pragma once

#include <sched.h>

#include <chrono>

namespace kvpool::net {

/// How long callers look before they sleep, unless told otherwise.
inline constexpr std::chrono::microseconds kBusyWait{100};

class BusyWait {
 public:
  using Clock = std::chrono::steady_clock;
  using Duration = Clock::duration;

  /// Looks for at most `longest` in each wait; 0: never.
  explicit BusyWait(Duration longest) : longest_(longest) {}

  /// Whether waits were of late, on average, short enough to be over while one looks.
  [[nodiscard]] bool promises() const { return average_ < longest_; }

  /// A wait took this long, however it was spent.
  void took(Duration wait);

  /// Waits until `look` finds something or `timeoutMs` (-1: for ever) are over. look(ms) waits at most that long and
  /// answers 0 as long as there is nothing.
  template <typename Look>
  int await(int timeoutMs, Look look) {
    const Clock::time_point start = Clock::now();
    int found = 0;
    if (promises()) {
      while ((found = look(0)) == 0 && Clock::now() - start < longest_)
        ::sched_yield();
    }
    if (found == 0) found = look(timeoutMs);
    took(Clock::now() - start);
    return found;
  }

 private:
  Duration longest_;
  Duration average_{0};
};

}  // namespace kvpool::net
