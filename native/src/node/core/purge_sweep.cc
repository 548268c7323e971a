// SPDX-License-Identifier: Apache-2.0
#include "node/core/purge_sweep.h"

#include <algorithm>

namespace kvpool::node {

void PurgeSweep::slice() {
  store::Directory& directory = context_.directory;
  const ObjectId purged = directory.purgeId();
  const uint32_t slots = directory.slotsTouched();
  const uint32_t end = next_ + std::min(kLooksPerSlice, slots - std::min(next_, slots));
  uint32_t frees = 0;
  for (; next_ < end && frees < kFreesPerSlice; ++next_) {
    const store::Slot& slot = directory.slot(next_);
    const ExtentRef extent{0, next_, slot.generation};
    const ObjectId id = slot.objectId;
    // A write that is still running is refused at its end.
    if (id >= purged || !directory.free(extent, id)) continue;
    context_.stream.freed(extent, id);
    ++frees;
  }
  running_ = next_ < slots;
}

}  // namespace kvpool::node
