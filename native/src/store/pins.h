// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "store/allocator.h"

namespace kvpool::store {

/// Which extents are being sent to readers. An extent that is freed meanwhile stays in quarantine here, and its bytes
/// come back to the allocator only with the last pin. Generations name extents, so a reused slot is another extent.
class Pins {
 public:
  void pin(uint64_t generation) { ++pins_[generation].count; }

  /// Takes one pin away. The range to give back to the allocator, when the extent was freed and this was the last pin.
  std::optional<Range> unpin(uint64_t generation);

  /// Puts a freed extent into quarantine. False when nobody has it pinned: it can be reused at once.
  bool quarantine(uint64_t generation, Range range);

  [[nodiscard]] bool pinned(uint64_t generation) const { return pins_.contains(generation); }
  [[nodiscard]] uint64_t quarantinedBytes() const { return quarantinedBytes_; }

 private:
  struct Pin {
    uint64_t count = 0;
    std::optional<Range> freed;
  };
  std::unordered_map<uint64_t, Pin> pins_;
  uint64_t quarantinedBytes_ = 0;
};

}  // namespace kvpool::store
