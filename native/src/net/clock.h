// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace kvpool::net {

/// Milliseconds of a clock that only goes forward, in which shells tell their cores the time. It goes on while the
/// machine is suspended, which CLOCK_MONOTONIC does not: what counts leases, and silences of others, must not take a
/// night for a moment.
inline int64_t steadyMs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000 + int64_t{now.tv_nsec} / 1000000;
}

/// Milliseconds of 1970, in which certificates end. Somebody may set it.
inline int64_t unixMs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000 + int64_t{now.tv_nsec} / 1000000;
}

}  // namespace kvpool::net
