// SPDX-License-Identifier: Apache-2.0
// Which of its bounds a leader means when it answers KV_QUEUE_FULL: the wire has no room for a name, but each kind of
// answer has few that it can be.
#pragma once

#include <string>
#include <string_view>

namespace kvpool::client {

/// Values of the label `reason` of kvpool_master_queue_full_total.
namespace bound {
inline constexpr std::string_view kGrants = "grants";
inline constexpr std::string_view kTombstones = "tombstones";
inline constexpr std::string_view kWaitingRequests = "waiting_requests";
inline constexpr std::string_view kRetained = "retained";
inline constexpr std::string_view kPrefetches = "prefetches";
inline constexpr std::string_view kTasks = "tasks";
inline constexpr std::string_view kSweepsOrWaiting = "sweeps or waiting_requests";
}  // namespace bound

/// A sentence that names it, and where the leader counts how often it was reached.
inline std::string leaderIsFull(std::string_view reason) {
  return "the leader has as many " + std::string(reason) +
         " as it takes; kvpool_master_queue_full_total counts this by " +
         "reason; try again when earlier requests have ended";
}

}  // namespace kvpool::client
