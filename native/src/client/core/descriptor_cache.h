// SPDX-License-Identifier: Apache-2.0
// Where objects are that this client was told about, for as long as the leases on them hold: reading one again costs no
// round trip to the leader. An extent is not reused while its lease holds, and one that was freed all the same (forced
// remove, upsert) has another generation, which the read notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/core/actions.h"
#include "client/core/limits.h"

namespace kvpool::client {

/// One object as the leader described it.
struct Descriptor {
  struct Copy {
    uint64_t node = 0;  ///< incarnation
    ExtentRef extent;
    uint64_t offset = 0;
  };
  ObjectId object;
  uint64_t length = 0;
  uint32_t crc = 0;
  Time leasedUntil = 0;
  Time halfLeased = 0;  ///< from then on less than half of the lease is left
  std::vector<Copy> copies;
};

class DescriptorCache {
 public:
  explicit DescriptorCache(size_t entriesMax = kDescriptorsMax) : entriesMax_(entriesMax) {}

  /// Nothing once the lease is over. Valid until the next change.
  [[nodiscard]] const Descriptor* find(std::string_view key, Time now) const;
  /// In place of what was known of the key. When the bound is reached the one put longest ago goes.
  void put(std::string_view key, Descriptor descriptor, Time now);
  void drop(std::string_view key);
  void clear();
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    Descriptor descriptor;
  };
  using Order = std::list<Entry>;

  void remove(Order::iterator entry);

  size_t entriesMax_;
  Order order_;                                                    // as they were put, so nearly as their leases end
  std::unordered_map<std::string_view, Order::iterator> entries_;  // keys are those of the entries
};

}  // namespace kvpool::client
