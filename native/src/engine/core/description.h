// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/core/region_table.h"

namespace kvpool::engine {

/// What one life of a peer said is registered there. Good only as long as the connection it came over.
class Description {
 public:
  Description() = default;
  /// KV_PROTOCOL when the regions are empty ones, wrap around, overlap or share an id: no engine registers such.
  static Result<Description> of(std::vector<Region> regions, std::string ascend = "");

  /// The region that holds the whole range; nothing when none does.
  [[nodiscard]] std::optional<uint64_t> regionOf(uint64_t address, uint64_t length) const;
  /// As the peer listed them.
  [[nodiscard]] const std::vector<Region>& regions() const { return listed_; }
  /// Where the peer's engine of CANN is, which has the same regions; empty: it has none.
  [[nodiscard]] const std::string& ascend() const { return ascend_; }
  /// Number of the registration that was made last of those that are there. Grows when the peer registers memory.
  [[nodiscard]] uint64_t latest() const { return latest_; }

 private:
  std::vector<Region> listed_;
  std::vector<Region> byBase_;
  std::string ascend_;
  uint64_t latest_ = 0;
};

}  // namespace kvpool::engine
