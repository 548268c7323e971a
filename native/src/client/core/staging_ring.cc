// SPDX-License-Identifier: Apache-2.0
#include "client/core/staging_ring.h"

#include <algorithm>

#include "client/core/limits.h"

namespace kvpool::client {

std::optional<uint64_t> StagingRing::take(uint64_t length) {
  if (length > bytes_) return std::nullopt;
  const uint64_t aligned = (length + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
  const uint64_t size = std::max(aligned, kStagingAlignment);  // empty blocks are told apart by their offsets
  uint64_t offset = 0;
  uint64_t limit = bytes_;
  if (!blocks_.empty()) {
    const uint64_t head = blocks_.front().offset;
    offset = blocks_.back().end;
    if (offset > head) {
      if (size > bytes_ - offset) {  // the rest at the end is too small: begin again at 0, up to the oldest block
        offset = 0;
        limit = head;
      }
    } else {
      limit = head;
    }
  }
  if (size > limit - offset) return std::nullopt;
  blocks_.push_back({offset, offset + size, false});
  return offset;
}

void StagingRing::release(uint64_t offset) {
  for (Block& block : blocks_) {
    if (block.offset == offset) block.released = true;
  }
  while (!blocks_.empty() && blocks_.front().released)
    blocks_.pop_front();
}

}  // namespace kvpool::client
