// SPDX-License-Identifier: Apache-2.0
// Hands out blocks of a staging memory in order, as a ring: a block's room comes back once it and all older ones are
// released. Writes are answered nearly in order, so this wastes little and cannot fragment.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace kvpool::client {

class StagingRing {
 public:
  explicit StagingRing(uint64_t bytes) : bytes_(bytes) {}

  /// Offset of a block of `length` bytes, aligned to kStagingAlignment; nothing while there is no room.
  std::optional<uint64_t> take(uint64_t length);
  void release(uint64_t offset);

 private:
  struct Block {
    uint64_t offset = 0;
    uint64_t end = 0;
    bool released = false;
  };

  uint64_t bytes_;
  std::deque<Block> blocks_;  // oldest first
};

}  // namespace kvpool::client
