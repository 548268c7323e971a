// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/status.h"
#include "ssd/device.h"
#include "ssd/table.h"
#include "store/directory.h"
#include "store/segment_header.h"

namespace kvpool::node {

/// A tier that is open, before anybody has read what is in it.
struct OpenTier {
  ssd::Device& device;
  ssd::TierHeader header;  // of the tier that was found, or just made
  bool created = false;    // just made: nothing of before is in it
};

/// The tier as a life of the node begins with it.
struct TierStart {
  ssd::Table table;
  ssd::TierRecovery recovery;
  bool emptied = false;  // what was found is not believed: the node ran without this tier since
};

/// Reads the table, or empties the tier under the number `fresh` when it cannot be believed: what was freed in a life
/// that had no tier, or not this one, was not freed there. A segment that is new believes it; then its memory was lost,
/// and removals meanwhile got tombstones because the node was away. KV_IO when the device fails.
Result<TierStart> startTier(const OpenTier& tier, uint32_t fresh, const store::SegmentState& state,
                            const store::Directory& directory);

}  // namespace kvpool::node
