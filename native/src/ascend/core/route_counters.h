// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/durations.h"

namespace kvpool::ascend {

/// What became of transfers and of the channels by which they go: numbers that grow, and at the end some of now.
struct RouteCounters {
  uint64_t transfers = 0;  ///< that ended well
  uint64_t failures = 0;
  uint64_t timeouts = 0;     ///< of the failures
  uint64_t retries = 0;      ///< transfers that were tried again, as CANN had no room for their channel
  uint64_t connects = 0;     ///< channels that were wanted of CANN, or left to it
  uint64_t renewals = 0;     ///< ended to be made again: they did not know all memory, or were of an earlier life
  uint64_t disconnects = 0;  ///< ends that were wanted of CANN
  uint64_t roomMade = 0;     ///< channels that ended because another one needed their room

  uint64_t channels = 0;      ///< that there are, with those that are kept
  uint64_t channelsKept = 0;  ///< by CANN, as their peer is gone and could not be told
  uint64_t channelsMax = 0;

  // Measured by who has a clock for it.
  Durations transferring;  ///< of any outcome, with the wait for a channel
  Durations connecting;    ///< of channels that CANN was asked for, of any outcome
};

/// What kv_node_stats and kv_engine_stats both have of them; of transfers the two count other ones.
template <typename Stats>
void tell(const RouteCounters& routes, Stats& out) {
  out.ascend_transfer_timeouts = routes.timeouts;
  out.ascend_retries = routes.retries;
  out.ascend_connects = routes.connects;
  out.ascend_renewals = routes.renewals;
  out.ascend_disconnects = routes.disconnects;
  out.ascend_room_made = routes.roomMade;
  out.ascend_channels = routes.channels;
  out.ascend_channels_kept = routes.channelsKept;
  out.ascend_channels_max = routes.channelsMax;
  out.ascend_transfer_us = routes.transferring.us;
  KVPOOL_TELL_DURATIONS(routes.transferring, out, ascend_transfers);
  out.ascend_connect_us = routes.connecting.us;
  KVPOOL_TELL_DURATIONS(routes.connecting, out, ascend_connects);
}

}  // namespace kvpool::ascend
