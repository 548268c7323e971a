// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/size_ladder.h"

namespace kvpool::ascend {

std::vector<uint64_t> sizeLadder(uint64_t bytes, uint64_t least, uint64_t unit) {
  constexpr uint64_t kTenths = 10;
  std::vector<uint64_t> sizes{bytes};
  for (uint64_t tenths = kTenths - 1; tenths >= kTenths / 2; --tenths) {
    const uint64_t part = bytes / kTenths * tenths + bytes % kTenths * tenths / kTenths;
    const uint64_t size = part / unit * unit;
    if (size >= least && size > 0 && size < sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace kvpool::ascend
