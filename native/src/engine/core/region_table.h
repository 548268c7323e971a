// SPDX-License-Identifier: Apache-2.0
// Memory of this process that peers may use. What a peer names is looked up here and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "kvpool/engine.h"

namespace kvpool::engine {

/// One registration. Ids are given out once, so that a peer's stale id never means other memory at the same address.
struct Region {
  uint64_t id = 0;
  uint64_t base = 0;
  uint64_t length = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// Regions do not overlap and are not empty.
class RegionTable {
 public:
  /// All or none. KV_INVALID_ARGUMENT for nothing, for a range that wraps around and for an overlap; KV_QUEUE_FULL
  /// beyond KV_ENGINE_REGIONS_MAX. `ofDevice`: the addresses of those that are memory of a device.
  Status add(std::span<const kv_region> regions, std::span<const uint64_t> ofDevice = {});
  /// What add() would say.
  [[nodiscard]] Status judge(std::span<const kv_region> regions) const;
  /// All or none; the ids that are gone. KV_NOT_REGISTERED unless a region begins at each address.
  Result<std::vector<uint64_t>> remove(std::span<const kv_region> regions);
  /// Whether the region exists and holds the whole range. Both numbers may come from a peer.
  [[nodiscard]] bool covers(uint64_t id, uint64_t address, uint64_t length) const;

  /// Whether one region holds the whole range.
  [[nodiscard]] bool holds(uint64_t address, uint64_t length) const;

  /// Whether any byte of the range is registered as memory of a device, which this process itself must not touch.
  [[nodiscard]] bool isOfDevice(uint64_t address, uint64_t length) const;

  /// In order of registration.
  [[nodiscard]] std::vector<Region> all() const;
  [[nodiscard]] size_t count() const { return byBase_.size(); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] Status judgeCount(size_t more) const;
  [[nodiscard]] Status judgeOne(const kv_region& region) const;
  Status addOne(const kv_region& region);
  void removeOne(uint64_t base);

  std::map<uint64_t, Region> byBase_;
  std::unordered_map<uint64_t, uint64_t> baseOf_;  // by id
  std::set<uint64_t> ofDevice_;                    // bases
  uint64_t lastId_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace kvpool::engine
