// SPDX-License-Identifier: Apache-2.0
#include "engine/core/description.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "base/checked.h"

namespace kvpool::engine {

Result<Description> Description::of(std::vector<Region> regions, std::string ascend) {
  std::unordered_set<uint64_t> ids;
  for (const Region& region : regions) {
    const bool possible = region.base != 0 && region.length != 0 && checkedAdd(region.base, region.length);
    if (!possible || !ids.insert(region.id).second) return {KV_PROTOCOL, "a described region is not possible"};
  }
  Description description;
  description.ascend_ = std::move(ascend);
  for (const Region& region : regions)
    description.latest_ = std::max(description.latest_, region.id);
  description.byBase_ = regions;
  std::vector<Region>& sorted = description.byBase_;
  std::sort(sorted.begin(), sorted.end(), [](const Region& a, const Region& b) { return a.base < b.base; });
  const auto overlap = std::adjacent_find(sorted.begin(), sorted.end(),
                                          [](const Region& a, const Region& b) { return b.base - a.base < a.length; });
  if (overlap != sorted.end()) return {KV_PROTOCOL, "described regions overlap"};
  description.listed_ = std::move(regions);
  return description;
}

std::optional<uint64_t> Description::regionOf(uint64_t address, uint64_t length) const {
  const auto next = std::upper_bound(byBase_.begin(), byBase_.end(), address,
                                     [](uint64_t wanted, const Region& region) { return wanted < region.base; });
  if (next == byBase_.begin()) return std::nullopt;
  const Region& region = *std::prev(next);
  if (!rangeInside(address, length, region.base, region.base + region.length)) return std::nullopt;
  return region.id;
}

}  // namespace kvpool::engine
