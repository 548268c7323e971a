// SPDX-License-Identifier: Apache-2.0
#include "node/core/parts_sum.h"

#include <algorithm>

#include "base/crc32c.h"
#include "base/crc32c_shift.h"

namespace kvpool::node {
namespace {

/// So that many small parts count as well.
constexpr uint64_t kRunCost = 256;

}  // namespace

PartsSum::Outcome PartsSum::step(const store::Directory& directory, std::span<const store::Range> parts,
                                 uint64_t& bytesMax) {
  const store::Slot& slot = directory.slot(slot_);
  if (slot.state != store::SlotState::Committed || slot.generation != generation_) return Outcome::Gone;
  const uint8_t* payload = directory.payload(slot).data();
  while (next_ < parts.size()) {
    if (bytesMax == 0) return Outcome::More;
    const uint64_t begin = parts[next_].offset;
    uint64_t end = begin;
    while (next_ < parts.size() && parts[next_].offset == end)
      end += parts[next_++].length;
    if (end == begin) continue;
    const SummedBlocks blocks =
        SummedBlocks::around(begin, end, slot.payloadLength, slot.payloadCrc, directory.sums(slot));
    const uint64_t rest = blocks.end - end;
    const uint32_t atBegin = crc32c(payload + blocks.begin, begin - blocks.begin, blocks.before);
    const uint32_t atEnd = crc32cShiftBack(blocks.behind ^ crc32c(payload + end, rest), rest);
    crc_ = crc32cShift(crc_ ^ atBegin, end - begin) ^ atEnd;
    bytesMax -= std::min(bytesMax, begin - blocks.begin + rest + kRunCost);
  }
  return Outcome::Done;
}

}  // namespace kvpool::node
