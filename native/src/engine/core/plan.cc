// SPDX-License-Identifier: Apache-2.0
#include "engine/core/plan.h"

#include <algorithm>

#include "engine/core/limits.h"

namespace kvpool::engine {
namespace {

/// A request that has room for more, begun when the last one has none.
PlannedRequest& withRoom(std::vector<PlannedRequest>& requests) {
  const bool full =
      requests.empty() || requests.back().bytes == kRequestBytes || requests.back().remote.size() == kPiecesPerRequest;
  return full ? requests.emplace_back() : requests.back();
}

void cut(std::vector<PlannedRequest>& requests, uint32_t index, const Line& line, uint64_t region) {
  for (uint64_t done = 0; done < line.length;) {
    PlannedRequest& request = withRoom(requests);
    const uint64_t part = std::min(line.length - done, kRequestBytes - request.bytes);
    request.remote.push_back({region, line.remote + done, static_cast<uint32_t>(part)});
    request.local.push_back({line.local + done, part});
    request.lines.push_back(index);
    request.bytes += part;
    done += part;
  }
}

}  // namespace

Plan plan(std::span<const Line> lines, std::span<const uint32_t> wanted, const Description& peer) {
  Plan result;
  for (const uint32_t index : wanted) {
    const Line& line = lines[index];
    if (line.length == 0) continue;
    const std::optional<uint64_t> region = peer.regionOf(line.remote, line.length);
    if (region) {
      cut(result.requests, index, line, *region);
    } else {
      result.unregistered.push_back(index);
    }
  }
  return result;
}

}  // namespace kvpool::engine
