// SPDX-License-Identifier: Apache-2.0
// The directory of a segment as damage or a stranger left it: recovery restores nothing that reaches out of the file or
// over another extent, and the segment works afterwards. The input patches a small valid segment: 2 bytes of place in
// header, states and first records, 1 byte of value, so that the fuzzer does not spend its time on 16 MiB of zeros.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "segment_in_memory.h"

namespace {

using kvpool::store::DirectoryRecord;
using kvpool::store::Geometry;
using kvpool::store::Slot;
using kvpool::store::SlotState;

constexpr uint32_t kPatchedSlots = 8;

/// Places worth damaging, as one range: header, both states, the first records.
size_t placeOf(uint16_t number) {
  const size_t index = number % (344 + 2 * 72 + kPatchedSlots * sizeof(DirectoryRecord));
  if (index < 344) return index;
  if (index < 344 + 72) return kvpool::store::kStateOffset + index - 344;
  if (index < 344 + 144) return kvpool::store::kStateOffset + kvpool::store::kPageBytes + index - 416;
  return kvpool::store::kDirectoryOffset + index - 488;
}

void require(bool ok) {
  if (!ok) std::abort();
}

void checkRestored(const kvpool::test::SegmentInMemory& segment) {
  const Geometry& geometry = segment.geometry;
  std::vector<std::pair<uint64_t, uint64_t>> extents;
  for (uint32_t number = 0; number < segment.directory->slotsTouched(); ++number) {
    const Slot& slot = segment.directory->slot(number);
    if (slot.state == SlotState::Free) continue;
    require(slot.state != SlotState::Tombstone || slot.payloadLength == 0);
    require(slot.extent.offset >= geometry.dataOffset);
    require(slot.extent.offset + slot.extent.length <= geometry.dataOffset + geometry.dataBytes);
    require(slot.payloadOffset() + slot.payloadLength <= slot.extent.offset + slot.extent.length);
    for (const auto& [begin, end] : extents) {
      require(slot.extent.offset >= end || slot.extent.offset + slot.extent.length <= begin);
    }
    extents.emplace_back(slot.extent.offset, slot.extent.offset + slot.extent.length);
  }
  require(extents.size() == segment.directory->objects() + segment.directory->tombstones());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static kvpool::test::SegmentInMemory segment;
  static const std::vector<uint8_t> whole = [] {
    for (uint64_t i = 1; i <= 4; ++i)
      segment.put({1, i}, "key-" + std::to_string(i), std::string(100 * i, 'v'));
    require(segment.directory->bury(std::vector<kvpool::store::Burial>{{{1, 3}, "key-3"}, {{1, 9}, "gone"}}).ok());
    return std::vector<uint8_t>(segment.memory.begin(),
                                segment.memory.begin() + kvpool::store::kDirectoryOffset + 4096);
  }();
  std::memcpy(segment.memory.data(), whole.data(), whole.size());
  const bool reseal = size > 0 && (data[0] & 1) != 0;
  for (size_t at = 1; at + 3 <= size; at += 3) {
    uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    segment.memory[placeOf(place)] = data[at + 2];
  }
  if (reseal) {
    // Lies with a right checksum get further than torn records.
    for (uint32_t slot = 0; slot < kPatchedSlots; ++slot) {
      DirectoryRecord record = segment.record(slot);
      record.crc = kvpool::store::recordCrc(record);
      std::memcpy(segment.memory.data() + kvpool::store::recordOffset(slot), &record, sizeof record);
    }
  }
  if (kvpool::store::checkHeader(segment.memory, segment.identity).verdict != kvpool::store::HeaderVerdict::Fits) {
    return 0;
  }
  const kvpool::store::Recovery recovery = segment.open();
  require(recovery.restored == segment.directory->objects());
  checkRestored(segment);
  segment.put({9, 9}, "works", "afterwards");
  checkRestored(segment);
  require(segment.open().dropped() == 0);
  return 0;
}
