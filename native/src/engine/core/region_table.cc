// SPDX-License-Identifier: Apache-2.0
#include "engine/core/region_table.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/checked.h"
#include "base/ids.h"

namespace kvpool::engine {

Status RegionTable::add(std::span<const kv_region> regions, std::span<const uint64_t> ofDevice) {
  if (Status fits = judgeCount(regions.size()); !fits.ok()) return fits;
  for (size_t i = 0; i < regions.size(); ++i) {
    Status added = addOne(regions[i]);
    if (added.ok()) continue;
    for (size_t k = 0; k < i; ++k)
      removeOne(regions[k].address);
    return added;
  }
  ofDevice_.insert(ofDevice.begin(), ofDevice.end());
  return {};
}

Status RegionTable::judge(std::span<const kv_region> regions) const {
  Status may = judgeCount(regions.size());
  for (size_t i = 0; may.ok() && i < regions.size(); ++i)
    may = judgeOne(regions[i]);
  if (!may.ok() || regions.size() < 2) return may;
  RegionTable alone;  // they may overlap one another
  return alone.add(regions);
}

Status RegionTable::judgeCount(size_t more) const {
  if (more <= KV_ENGINE_REGIONS_MAX - byBase_.size()) return {};
  return {KV_QUEUE_FULL, std::to_string(byBase_.size()) + " regions are registered and " + std::to_string(more) +
                             " more exceed KV_ENGINE_REGIONS_MAX = " + std::to_string(KV_ENGINE_REGIONS_MAX) +
                             "; register larger regions"};
}

Status RegionTable::judgeOne(const kv_region& region) const {
  const std::string shown =
      "the region at 0x" + hex16(region.address) + " of " + std::to_string(region.length) + " bytes";
  if (region.address == 0 || region.length == 0) {
    return {KV_INVALID_ARGUMENT, shown + " needs an address and a length above 0"};
  }
  if (!checkedAdd(region.address, region.length)) {
    return {KV_INVALID_ARGUMENT, shown + " ends behind the end of memory"};
  }
  const auto next = byBase_.lower_bound(region.address);
  const bool overlapsNext = next != byBase_.end() && next->first - region.address < region.length;
  const bool overlapsBefore =
      next != byBase_.begin() && region.address - std::prev(next)->first < std::prev(next)->second.length;
  if (overlapsNext || overlapsBefore) {
    return {KV_INVALID_ARGUMENT, shown + " overlaps one that is registered; unregister that one first"};
  }
  return {};
}

Status RegionTable::addOne(const kv_region& region) {
  if (Status may = judgeOne(region); !may.ok()) return may;
  const uint64_t id = ++lastId_;
  byBase_.emplace(region.address, Region{id, region.address, region.length});
  baseOf_.emplace(id, region.address);
  bytes_ += region.length;
  return {};
}

Result<std::vector<uint64_t>> RegionTable::remove(std::span<const kv_region> regions) {
  std::vector<uint64_t> ids;
  for (const kv_region& region : regions) {
    const auto found = byBase_.find(region.address);
    const bool twice = found != byBase_.end() && std::find(ids.begin(), ids.end(), found->second.id) != ids.end();
    if (found == byBase_.end() || twice) {
      return {KV_NOT_REGISTERED, "no registered region begins at 0x" + hex16(region.address) +
                                     (twice ? ", which stands twice in the list" : "")};
    }
    ids.push_back(found->second.id);
  }
  for (const kv_region& region : regions)
    removeOne(region.address);
  return ids;
}

void RegionTable::removeOne(uint64_t base) {
  const auto found = byBase_.find(base);
  bytes_ -= found->second.length;
  baseOf_.erase(found->second.id);
  ofDevice_.erase(base);
  byBase_.erase(found);
}

bool RegionTable::covers(uint64_t id, uint64_t address, uint64_t length) const {
  const auto base = baseOf_.find(id);
  if (base == baseOf_.end()) return false;
  const Region& region = byBase_.at(base->second);
  return rangeInside(address, length, region.base, region.base + region.length);
}

bool RegionTable::holds(uint64_t address, uint64_t length) const {
  const auto next = byBase_.upper_bound(address);
  if (next == byBase_.begin()) return false;
  const Region& region = std::prev(next)->second;
  return rangeInside(address, length, region.base, region.base + region.length);
}

bool RegionTable::isOfDevice(uint64_t address, uint64_t length) const {
  return std::ranges::any_of(ofDevice_, [&](uint64_t base) {
    return base < address ? address - base < byBase_.at(base).length : base - address < length;
  });
}

std::vector<Region> RegionTable::all() const {
  std::vector<Region> regions;
  regions.reserve(byBase_.size());
  for (const auto& [base, region] : byBase_)
    regions.push_back(region);
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) { return a.id < b.id; });
  return regions;
}

}  // namespace kvpool::engine
