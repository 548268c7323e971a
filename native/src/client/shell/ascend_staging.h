// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ascend/shell/station.h"
#include "base/status.h"
#include "client/core/actions.h"
#include "client/core/resting_blocks.h"
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

  /// On the device of this thread's context, or on the first device where it has none. With link Fabric the memory of
  /// the first connections is made, as that takes long and says whether there is any. `masters` (HOST:PORT) tell which
  /// address of this machine nodes reach, unless HCCL_IF_IP does.
  static Result<std::unique_ptr<AscendStaging>> open(const std::vector<std::string>& masters, const std::string& name);

  /// KV_NO_SPACE when there is none; what CANN refuses, for kRefusedMs at once with the same words. It goes back when
  /// it ends, before this does.
  Result<std::unique_ptr<OfferedMemory>> lend(uint64_t bytes, Time now);

  [[nodiscard]] Time restMs() const { return resting_.restMs(); }
  [[nodiscard]] ascend::Station& station() { return *station_; }

 private:
  class Lent;
  explicit AscendStaging(std::unique_ptr<ascend::Station> station);

  std::unique_ptr<ascend::Station> station_;
  size_t blocks_ = 0;
  uint64_t registrations_;  // before all of this station
  Status refusal_;
  Time refusedUntil_ = 0;
  RestingBlocks resting_;
};

}  // namespace kvpool::client
