// SPDX-License-Identifier: Apache-2.0
// The directory of a segment as damage or a stranger left it: recovery restores nothing that reaches out of the file or
// over another extent, and the segment works afterwards. The input patches a small valid segment: 2 bytes of place in
// header, states and first records, 1 byte of value, so that the fuzzer does not spend its time on 16 MiB of zeros.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "store/segment_in_memory.h"

namespace {

using kvpool::store::DirectoryRecord;
using kvpool::store::Geometry;
using kvpool::store::Slot;
using kvpool::store::SlotState;

constexpr uint32_t kPatchedSlots = 8;
constexpr size_t kHeadBytes = kvpool::store::kDirectoryOffset + 4096;
constexpr size_t kDataBytes = 4096;

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

/// Lies with right checksums get further than torn records: those of the records, and those of the keys they name.
void reseal(kvpool::test::SegmentInMemory& segment, bool keys) {
  for (uint32_t slot = 0; slot < kPatchedSlots; ++slot) {
    DirectoryRecord record = segment.record(slot);
    const bool inside =
        record.offset <= segment.memory.size() && record.keyLength <= segment.memory.size() - record.offset;
    if (keys && inside) record.keyCrc = kvpool::crc32c(segment.memory.data() + record.offset, record.keyLength);
    record.crc = kvpool::store::recordCrc(record, segment.seal());
    std::memcpy(segment.memory.data() + kvpool::store::recordOffset(slot), &record, sizeof record);
  }
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
    require(slot.objectId.epoch <= segment.state->get().epoch);
    require(slot.payloadOffset() + slot.payloadLength <= slot.extent.offset + slot.extent.length);
    for (const auto& [begin, end] : extents) {
      require(slot.extent.offset >= end || slot.extent.offset + slot.extent.length <= begin);
    }
    extents.emplace_back(slot.extent.offset, slot.extent.offset + slot.extent.length);
  }
  require(extents.size() == segment.directory->objects() + segment.directory->tombstones());
}

/// What the segment is for still works, unless lies that were believed leave no room or name that very object. What is
/// written is the caller's to take back, or the next input would start from other bytes.
std::optional<Slot> putAfterwards(kvpool::test::SegmentInMemory& segment) {
  segment.obey(9);
  const kvpool::Result<uint32_t> slot = segment.directory->reserve({9, 9}, "works", 10);
  if (!slot.ok()) {
    const int32_t code = slot.status().code();
    require(code == KV_EXISTS || code == KV_STALE_EPOCH || code == KV_NO_SPACE);
    return std::nullopt;
  }
  segment.directory->commit(slot.value(), kvpool::crc32c(std::string_view("\0\0\0\0\0\0\0\0\0\0", 10)));
  return segment.directory->slot(slot.value());
}

/// The first bytes of the file and of its data, which are all that a run changes beside what it puts.
std::vector<uint8_t> beginningsOf(const kvpool::test::SegmentInMemory& segment) {
  std::vector<uint8_t> bytes(kHeadBytes + kDataBytes);
  std::memcpy(bytes.data(), segment.memory.data(), kHeadBytes);
  std::memcpy(bytes.data() + kHeadBytes, segment.memory.data() + segment.geometry.dataOffset, kDataBytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static kvpool::test::SegmentInMemory segment;
  static const std::vector<uint8_t> whole = [] {
    for (uint64_t i = 1; i <= 4; ++i)
      segment.put({1, i}, "key-" + std::to_string(i), std::string(100 * i, 'v'));
    require(
        segment.directory->keepTombstones(std::vector<kvpool::store::Tombstone>{{{1, 3}, "key-3"}, {{1, 9}, "gone"}})
            .ok());
    return beginningsOf(segment);
  }();
  std::memcpy(segment.memory.data(), whole.data(), kHeadBytes);
  std::memcpy(segment.memory.data() + segment.geometry.dataOffset, whole.data() + kHeadBytes, kDataBytes);
  for (size_t at = 1; at + 3 <= size; at += 3) {
    uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    segment.memory[placeOf(place)] = data[at + 2];
  }
  if (size > 0 && (data[0] & 1) != 0) reseal(segment, (data[0] & 2) != 0);
  if (kvpool::store::checkHeader(segment.memory, segment.identity).verdict != kvpool::store::HeaderVerdict::Fits) {
    return 0;
  }
  const kvpool::store::Recovery recovery = segment.open();
  require(recovery.restored == segment.directory->objects());
  checkRestored(segment);
  const std::optional<Slot> put = putAfterwards(segment);
  checkRestored(segment);
  require(segment.open().dropped() == 0);
  if (put) std::memset(segment.memory.data() + put->extent.offset, 0, put->extent.length);
  return 0;
}
