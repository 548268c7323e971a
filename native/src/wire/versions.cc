// SPDX-License-Identifier: Apache-2.0
// The only file that is compiled anew for a build with other version ranges.
#include "wire/protocol.h"

namespace kvpool::wire {

constexpr VersionRange kWireVersions{KVPOOL_WIRE_MIN, KVPOOL_WIRE_MAX};
constexpr VersionRange kLayoutVersions{KVPOOL_LAYOUT_MIN, KVPOOL_LAYOUT_MAX};
constexpr VersionRange kAbiVersions{1, 1};

// What the code can do at all. Wire version 2 differs from 1 in nothing yet; see store/layout.h for the layouts.
static_assert(kWireVersions.min >= 1 && kWireVersions.min <= kWireVersions.max && kWireVersions.max <= 2);
static_assert(kLayoutVersions.min >= 1 && kLayoutVersions.min <= kLayoutVersions.max && kLayoutVersions.max <= 2);

std::string toString(const VersionRange& range) {
  return "[" + std::to_string(range.min) + ", " + std::to_string(range.max) + "]";
}

}  // namespace kvpool::wire
