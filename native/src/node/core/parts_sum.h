// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "store/directory.h"

namespace kvpool::node {

/// The checksum that parts of an object, one behind the other, must have: computed from the object's sums and from the
/// rest of the blocks that the parts begin and end in, not from the parts themselves. Parts that follow each other in
/// the object count as one. In pieces; the object may go meanwhile.
class PartsSum {
 public:
  enum class Outcome { More, Done, Gone };

  PartsSum(uint32_t slot, uint64_t generation) : slot_(slot), generation_(generation) {}

  /// Goes on over `parts`, which are always the same and inside of the object. Takes what it costs from `bytesMax`;
  /// goes beyond it by no more than two blocks.
  Outcome step(const store::Directory& directory, std::span<const store::Range> parts, uint64_t& bytesMax);
  /// When it is Done.
  [[nodiscard]] uint32_t crc() const { return crc_; }

 private:
  uint32_t slot_;
  uint64_t generation_;
  size_t next_ = 0;  // part
  uint32_t crc_ = 0;
};

}  // namespace kvpool::node
