// SPDX-License-Identifier: Apache-2.0
// The part of Directory that runs once, when a segment is opened: every record is checked, what is not whole is dropped
// and counted, never guessed.
#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "store/directory.h"

namespace kvpool::store {
namespace {

bool neverUsed(const DirectoryRecord& record) {
  static const DirectoryRecord zero{};
  return std::memcmp(&record, &zero, sizeof record) == 0;
}

}  // namespace

Recovery Directory::recover() {
  Recovery recovery;
  std::vector<uint32_t> committed;
  std::vector<uint32_t> dropped;  // their records in the file are not free yet
  uint32_t touched = 0;
  std::vector<Slot> found(geometry_.slots);
  for (uint32_t number = 0; number < geometry_.slots; ++number) {
    Slot& slot = found[number];
    const Finding finding = inspect(number, &slot);
    if (finding == Finding::Committed) {
      committed.push_back(number);
    } else if (finding != Finding::Free) {
      slot = Slot{};
      dropped.push_back(number);
      recovery.unfinished += finding == Finding::Unfinished ? 1 : 0;
      recovery.torn += finding == Finding::Torn ? 1 : 0;
      recovery.invalid += finding == Finding::Invalid ? 1 : 0;
    }
    if (finding != Finding::Free || slot.generation != 0) touched = number + 1;
  }
  found.resize(touched);
  slots_ = std::move(found);
  slots_.shrink_to_fit();

  dropOverlapping(committed, dropped, recovery);
  restore(committed, dropped, recovery);
  for (const uint32_t number : dropped) {
    slots_[number] = Slot{};
    storeRecord(number);
  }
  for (uint32_t number = touched; number-- > 0;) {
    if (slots_[number].state == SlotState::Free) freeSlots_.push_back(number);
  }
  return recovery;
}

Directory::Finding Directory::inspect(uint32_t number, Slot* out) const {
  DirectoryRecord record;
  std::memcpy(&record, file_.data() + recordOffset(number), sizeof record);
  if (neverUsed(record)) return Finding::Free;
  if (record.slot != number || record.crc != recordCrc(record)) return Finding::Torn;
  if (record.generation >= state_.get().generationHighWater) return Finding::Invalid;
  out->generation = record.generation;
  if (record.state == static_cast<uint32_t>(SlotState::Free)) return Finding::Free;
  if (record.state == static_cast<uint32_t>(SlotState::Reserved)) return Finding::Unfinished;
  if (record.state != static_cast<uint32_t>(SlotState::Committed)) return Finding::Invalid;

  *out = Slot{SlotState::Committed,
              record.keyLength,
              record.payloadCrc,
              record.generation,
              {record.objectEpoch, record.objectCounter},
              {record.offset, record.extentBytes},
              record.payloadLength};
  if (record.keyLength == 0 || record.keyLength > KV_KEY_BYTES_MAX) return Finding::Invalid;
  const std::optional<uint64_t> extentBytes = extentBytesFor(record.keyLength, record.payloadLength);
  const uint64_t dataEnd = geometry_.dataOffset + geometry_.dataBytes;
  const bool placed = extentBytes == record.extentBytes && record.offset % kExtentAlignment == 0 &&
                      rangeInside(record.offset, record.extentBytes, geometry_.dataOffset, dataEnd);
  if (!placed) return Finding::Invalid;
  const std::string_view name = key(*out);
  return crc32c(name) == record.keyCrc && isUtf8(name) ? Finding::Committed : Finding::Invalid;
}

/// Two records that claim the same bytes: one of them is wrong and nothing says which, so both go.
void Directory::dropOverlapping(std::vector<uint32_t>& committed, std::vector<uint32_t>& dropped, Recovery& recovery) {
  std::sort(committed.begin(), committed.end(),
            [&](uint32_t a, uint32_t b) { return slots_[a].extent.offset < slots_[b].extent.offset; });
  std::vector<uint32_t> alone;
  alone.reserve(committed.size());
  for (size_t i = 0; i < committed.size();) {
    uint64_t end = slots_[committed[i]].extent.offset + slots_[committed[i]].extent.length;
    size_t next = i + 1;
    while (next < committed.size() && slots_[committed[next]].extent.offset < end) {
      const Range& extent = slots_[committed[next]].extent;
      end = std::max(end, extent.offset + extent.length);
      ++next;
    }
    if (next == i + 1) {
      alone.push_back(committed[i]);
    } else {
      recovery.overlapping += next - i;
      dropped.insert(dropped.end(), committed.begin() + static_cast<long>(i),
                     committed.begin() + static_cast<long>(next));
    }
    i = next;
  }
  committed = std::move(alone);
}

void Directory::restore(const std::vector<uint32_t>& committed, std::vector<uint32_t>& dropped, Recovery& recovery) {
  for (const uint32_t number : committed) {
    const Slot& slot = slots_[number];
    // reserve() never lets one object in twice, so a second one is damage; the first found stays readable.
    if (!byId_.emplace(slot.objectId, number).second || !allocator_.take(slot.extent)) {
      ++recovery.invalid;
      dropped.push_back(number);
      continue;
    }
    ++objects_;
    ++recovery.restored;
    if (slot.objectId > highestObject_) highestObject_ = slot.objectId;
  }
}

}  // namespace kvpool::store
