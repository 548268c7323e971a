// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/status.h"
#include "engine/core/region_table.h"

namespace kvpool::engine {

/// What one life of a peer said is registered there. Good only as long as the connection it came over.
class Description {
 public:
  Description() = default;
  /// KV_PROTOCOL when the regions are empty ones, wrap around, overlap or share an id: no engine registers such.
  static Result<Description> of(std::vector<Region> regions);

  /// The region that holds the whole range; nothing when none does.
  [[nodiscard]] std::optional<uint64_t> regionOf(uint64_t address, uint64_t length) const;
  /// As the peer listed them.
  [[nodiscard]] const std::vector<Region>& regions() const { return listed_; }

 private:
  std::vector<Region> listed_;
  std::vector<Region> byBase_;
};

}  // namespace kvpool::engine
