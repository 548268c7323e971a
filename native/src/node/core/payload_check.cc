// SPDX-License-Identifier: Apache-2.0
#include "node/core/payload_check.h"

#include <algorithm>
#include <string>

namespace kvpool::node {

PayloadCheck::Outcome PayloadCheck::step(const store::Directory& directory, uint64_t bytesMax) {
  const store::Slot& slot = directory.slot(slot_);
  if (slot.state != store::SlotState::Committed || slot.generation != generation_) return Outcome::Gone;
  const uint64_t end = at_ + std::min(std::max<uint64_t>(bytesMax, 1), slot.payloadLength - at_);
  while (at_ < end) {
    const uint64_t part = std::min(end - at_, kSumBlockBytes - at_ % kSumBlockBytes);
    crc_ = crc32c(directory.payload(slot).data() + at_, part, crc_);
    at_ += part;
    const bool atSum = at_ % kSumBlockBytes == 0;
    if (atSum && crc_ != sumAt(directory.sums(slot), at_ / kSumBlockBytes - 1)) return Outcome::Damaged;
  }
  if (at_ < slot.payloadLength) return Outcome::More;
  return crc_ == slot.payloadCrc && directory.isKeyIntact(slot) ? Outcome::Intact : Outcome::Damaged;
}

void dropDamaged(CoreContext& context, uint32_t number, const char* foundBy) {
  const store::Slot& slot = context.directory.slot(number);
  const ExtentRef extent{0, number, slot.generation};
  const ObjectId id = slot.objectId;
  context.outbox.note(LogLevel::Error, "object " + toString(id) + " of " + std::to_string(slot.payloadLength) +
                                           " bytes in slot " + std::to_string(number) +
                                           " does not match its checksum and was dropped; found by " + foundBy +
                                           "; look for faulty memory, or for a process that writes to the segment");
  context.directory.free(extent, id);
  context.stream.freed(extent, id);
  ++context.stats.damaged;
}

}  // namespace kvpool::node
