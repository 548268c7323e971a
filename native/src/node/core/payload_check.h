// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/crc32c.h"
#include "node/core/core_context.h"

namespace kvpool::node {

/// Compares the payload of one object, its sums and its key with their checksums, the payload a piece at a time. The
/// object may go meanwhile.
class PayloadCheck {
 public:
  enum class Outcome { More, Intact, Damaged, Gone };

  PayloadCheck(uint32_t slot, uint64_t generation) : slot_(slot), generation_(generation) {}

  /// Looks at no more than `bytesMax` bytes, and at one byte at least, so that it comes to an end.
  Outcome step(const store::Directory& directory, uint64_t bytesMax);

  [[nodiscard]] uint32_t slot() const { return slot_; }
  [[nodiscard]] uint64_t checkedBytes() const { return at_; }

 private:
  uint32_t slot_;
  uint64_t generation_;
  uint64_t at_ = 0;
  uint32_t crc_ = 0;
};

/// Frees an object whose bytes are not those that were put, tells the masters and people, and counts it: another
/// replica may have them, and a miss is better than wrong bytes.
void dropDamaged(CoreContext& context, uint32_t slot, const char* foundBy);

}  // namespace kvpool::node
