// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>

#include "kvpool/engine.h"

namespace kvpool::engine {

/// Memory that could not be registered because this process cannot read it. Some applications go on with it, and
/// touching it would end the process. The latest are known, as many as may be registered.
class UnreadableRegions {
 public:
  void add(const kv_region& region) {
    if (regions_.size() == KV_ENGINE_REGIONS_MAX) regions_.pop_front();
    regions_.push_back(region);
  }

  /// They can be read by now.
  void forget(std::span<const kv_region> readable) {
    std::erase_if(regions_, [&](const kv_region& one) {
      return std::any_of(readable.begin(), readable.end(), [&](const kv_region& other) { return overlap(one, other); });
    });
  }

  [[nodiscard]] bool holdsAnyOf(uint64_t address, uint64_t length) const {
    const kv_region asked{address, length};
    return std::any_of(regions_.begin(), regions_.end(), [&](const kv_region& one) { return overlap(one, asked); });
  }

 private:
  /// Neither wraps around, or begins at an end.
  static bool overlap(const kv_region& a, const kv_region& b) {
    return a.address < b.address ? b.address - a.address < a.length : a.address - b.address < b.length;
  }

  std::deque<kv_region> regions_;
};

}  // namespace kvpool::engine
