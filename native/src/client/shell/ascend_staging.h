// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ascend/shell/station.h"
#include "base/status.h"
#include "client/core/actions.h"
#include "wire/staging_offer.h"

namespace kvpool::client {

/// Staging memory that nodes reach by CANN: registered once, and then lent to one connection after the other, since
/// what is registered stays known to the channels of nodes.
class AscendStaging {
 public:
  /// Connections to nodes at the same time, each with memory of its own; CANN registers at most 256 regions.
  static constexpr size_t kBlocksMax = 64;
  /// What CANN refused takes as long to be refused again: after that time.
  static constexpr Time kRefusedMs = 60000;
  /// How long a node may take to learn that a connection has ended, and then for the end of a channel.
  static constexpr Time kLearnMs = 10000;

  /// On the device of this thread's context, or on the first device where it has none. With link Fabric the memory of
  /// the first connections is made, as that takes long and says whether there is any. `masters` (HOST:PORT) tell which
  /// address of this machine nodes reach, unless HCCL_IF_IP does.
  static Result<std::unique_ptr<AscendStaging>> open(const std::vector<std::string>& masters, const std::string& name);

  /// KV_NO_SPACE when there is none; what CANN refuses, for kRefusedMs at once with the same words. It goes back when
  /// it ends, before this does.
  Result<std::unique_ptr<OfferedMemory>> lend(uint64_t bytes, Time now);

  /// A connection may have ended before its node learns of it, or while CANN moves bytes for it: its memory is lent
  /// again after more time than a node, whose timeouts are taken to be ours, gives a transfer, the end of its channel
  /// and its card, which may repeat what was not answered.
  [[nodiscard]] Time restMs() const { return station_->patienceMs() + station_->cardRepeatsMs() + kLearnMs; }
  [[nodiscard]] ascend::Station& station() { return *station_; }

 private:
  class Lent;
  struct Block {
    uint8_t* at = nullptr;
    uint64_t bytes = 0;
    Time rests = 0;  // until then
  };

  explicit AscendStaging(std::unique_ptr<ascend::Station> station);

  std::unique_ptr<ascend::Station> station_;
  size_t blocks_ = 0;
  uint64_t registrations_;  // before all of this station
  Status refusal_;
  Time refusedUntil_ = 0;
  std::deque<Block> free_;  // the one that rests longest last
};

}  // namespace kvpool::client
