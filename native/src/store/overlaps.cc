// SPDX-License-Identifier: Apache-2.0
#include "store/overlaps.h"

#include <algorithm>
#include <utility>

namespace kvpool::store {

Claims sortOut(std::vector<Claim> claims) {
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return std::pair(a.extent.offset, a.number) < std::pair(b.extent.offset, b.number);
  });
  Claims out;
  out.alone.reserve(claims.size());
  for (size_t i = 0; i < claims.size();) {
    uint64_t end = claims[i].extent.offset + claims[i].extent.length;
    size_t next = i + 1;
    for (; next < claims.size() && claims[next].extent.offset < end; ++next)
      end = std::max(end, claims[next].extent.offset + claims[next].extent.length);
    std::vector<uint32_t>& found = next == i + 1 ? out.alone : out.overlapping;
    for (; i < next; ++i)
      found.push_back(claims[i].number);
  }
  return out;
}

}  // namespace kvpool::store
