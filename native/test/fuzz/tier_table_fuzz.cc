// SPDX-License-Identifier: Apache-2.0
// The table of an SSD tier as damage or a stranger left it: a start restores nothing that reaches out of the device or
// over another object, clears what it dropped, and the tier works afterwards. The input patches a small valid tier: 2
// bytes of place in header and first records, 1 byte of value.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "ssd/device_in_memory.h"
#include "ssd/tier_file.h"
#include "ssd/workers.h"

namespace {

using kvpool::ssd::kTableOffset;
using kvpool::ssd::Table;
using kvpool::ssd::TierHeader;
using kvpool::ssd::TierRecord;

constexpr uint32_t kNumber = 99;
constexpr uint32_t kPatchedSlots = 8;
const kvpool::store::SegmentIdentity kIdentity{{0x11, 0x22}, "node-0", 0};

void require(bool ok) {
  if (!ok) std::abort();
}

size_t placeOf(uint16_t number) {
  const size_t index = number % (sizeof(TierHeader) + kPatchedSlots * sizeof(TierRecord));
  return index < sizeof(TierHeader) ? index : kTableOffset + index - sizeof(TierHeader);
}

void store(Table& table, kvpool::test::DeviceInMemory& disk) {
  while (table.isDirty()) {
    auto batch = std::make_shared<const Table::Batch>(table.takeDirty(4));
    require(perform(disk, kvpool::ssd::StoreBlocks{batch}).status.ok());
    table.stored(*batch);
  }
}

/// An object with the counter given, or with the next one that no object has.
void put(Table& table, kvpool::test::DeviceInMemory& disk, uint64_t counter, uint64_t length) {
  while (table.slotOf({9, counter}))
    ++counter;
  const kvpool::Result<uint32_t> slot = table.begin({9, counter}, "key " + std::to_string(counter), length, 0, {});
  // Damage may have made one object as large as the device.
  if (slot.status().code() == KV_NO_SPACE) return;
  require(slot.ok());
  table.written(slot.value());
  store(table, disk);
}

void checkObjects(const Table& table) {
  const kvpool::ssd::TierGeometry& geometry = table.geometry();
  std::vector<std::pair<uint64_t, uint64_t>> extents;
  for (uint32_t number = 0; number < table.slotsTouched(); ++number) {
    const Table::Slot& slot = table.slot(number);
    if (slot.state != Table::State::Readable) continue;
    const auto& [offset, length] = slot.object.extent;
    require(offset >= geometry.dataOffset && offset + length <= geometry.dataOffset + geometry.dataBytes);
    require(slot.object.payloadLength <= length && !slot.object.key.empty());
    for (const auto& [begin, end] : extents)
      require(offset >= end || offset + length <= begin);
    extents.emplace_back(offset, offset + length);
  }
  require(extents.size() == table.objects());
}

Table loaded(kvpool::test::DeviceInMemory& disk, const kvpool::ssd::TierCheck& check) {
  Table table(check.header);
  require(loadTable(disk, table, [](const kvpool::ObjectId& id, std::string_view) {
            if (id.epoch > 14) return kvpool::ssd::Table::Fate::Above;
            return id.epoch == 13 ? kvpool::ssd::Table::Fate::Dead : kvpool::ssd::Table::Fate::Alive;
          }).ok());
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static kvpool::test::DeviceInMemory disk(kvpool::ssd::kTierBytesMin);
  static const std::vector<uint8_t> whole = [] {
    const kvpool::ssd::TierGeometry geometry = *kvpool::ssd::planTier(kvpool::ssd::kTierBytesMin);
    TierHeader header = kvpool::ssd::newHeader(geometry, kIdentity, kNumber);
    require(kvpool::ssd::formatTier(disk, header).ok());
    Table table(header);
    for (uint64_t i = 1; i <= 4; ++i)
      put(table, disk, i, 3000 * i);
    require(table.free({kvpool::kTierSegment, 1, table.slot(1).object.generation}, {9, 2}));
    store(table, disk);
    return std::vector<uint8_t>(disk.bytes.begin(), disk.bytes.begin() + kTableOffset + 2 * kvpool::ssd::kBlockBytes);
  }();
  std::memcpy(disk.bytes.data(), whole.data(), whole.size());
  const bool reseal = size > 0 && (data[0] & 1) != 0;
  for (size_t at = 1; at + 3 <= size; at += 3) {
    uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    disk.bytes[placeOf(place)] = data[at + 2];
  }
  for (uint32_t slot = 0; reseal && slot < kPatchedSlots; ++slot) {
    // Lies with a right checksum get further than torn records.
    uint8_t* record = disk.bytes.data() + kTableOffset + slot * sizeof(TierRecord);
    const uint32_t crc = kvpool::crc32c(record + sizeof(uint32_t), sizeof(TierRecord) - sizeof(uint32_t));
    std::memcpy(record, &crc, sizeof crc);
  }
  const std::span<const uint8_t> headers = std::span(disk.bytes).first(kTableOffset);
  const kvpool::ssd::TierCheck check = kvpool::ssd::checkTier(headers, disk.bytes.size(), kIdentity);
  if (check.verdict != kvpool::ssd::TierVerdict::Fits) return 0;
  Table table = loaded(disk, check);
  checkObjects(table);
  put(table, disk, 77, 10'000);
  checkObjects(table);
  const uint64_t objects = table.objects();
  const Table again = loaded(disk, check);
  checkObjects(again);
  require(again.objects() == objects);
  return 0;
}
