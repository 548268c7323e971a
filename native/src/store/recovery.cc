// SPDX-License-Identifier: Apache-2.0
// The part of Directory that runs once, when a segment is opened: every record is checked, what is not whole is dropped
// and counted, never guessed.
#include <algorithm>
#include <cstring>
#include <utility>

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
  std::vector<uint32_t> whole;
  std::vector<uint32_t> dropped;  // their records in the file are not free yet
  uint32_t touched = 0;
  std::vector<Slot> found(geometry_.slots);
  for (uint32_t number = 0; number < geometry_.slots; ++number) {
    Slot& slot = found[number];
    const Finding finding = inspect(number, &slot);
    if (finding == Finding::Whole) {
      whole.push_back(number);
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

  dropOverlapping(whole, dropped, recovery);
  restore(whole, dropped, recovery);
  for (const uint32_t number : dropped) {
    slots_[number] = Slot{};
    storeRecord(number);
  }
  for (uint32_t number = touched; number-- > 0;) {
    if (slots_[number].state == SlotState::Free) freeSlots_.push_back(number);
  }
  recovery.restored = objects_;
  recovery.restoredHash = idsHash_;
  recovery.tombstones = tombstones_.size();
  recovery_ = recovery;
  return recovery;
}

Directory::Finding Directory::inspect(uint32_t number, Slot* out) const {
  DirectoryRecord record;
  std::memcpy(&record, file_.data() + recordOffset(number), sizeof record);
  if (neverUsed(record)) return Finding::Free;
  if (record.slot != number || record.crc != recordCrc(record, seal_)) return Finding::Torn;
  if (record.generation >= state_.get().generationHighWater) return Finding::Invalid;
  out->generation = record.generation;
  if (record.state == static_cast<uint32_t>(SlotState::Free)) return Finding::Free;
  if (record.state == static_cast<uint32_t>(SlotState::Reserved)) return Finding::Unfinished;
  const bool tombstone = record.state == static_cast<uint32_t>(SlotState::Tombstone);
  if (!tombstone && record.state != static_cast<uint32_t>(SlotState::Committed)) return Finding::Invalid;

  out->state = tombstone ? SlotState::Tombstone : SlotState::Committed;
  out->keyLength = record.keyLength;
  out->payloadCrc = record.payloadCrc;
  out->verified = tombstone || record.payloadLength == 0;
  out->objectId = {record.objectEpoch, record.objectCounter};
  out->extent = {record.offset, record.extentBytes};
  out->payloadLength = record.payloadLength;
  out->retention = {static_cast<uint8_t>(record.pins), record.softPinMs, record.group};
  if (record.keyLength == 0 || record.keyLength > KV_KEY_BYTES_MAX) return Finding::Invalid;
  if (record.pins > kPinsKnown || (tombstone && record.payloadLength != 0)) return Finding::Invalid;
  const std::optional<uint64_t> extentBytes = extentBytesFor(record.keyLength, record.payloadLength);
  const uint64_t dataEnd = geometry_.dataOffset + geometry_.dataBytes;
  const bool placed = extentBytes == record.extentBytes && record.offset % kExtentAlignment == 0 &&
                      rangeInside(record.offset, record.extentBytes, geometry_.dataOffset, dataEnd);
  if (!placed) return Finding::Invalid;
  const std::string_view name = key(*out);
  if (crc32c(name) != record.keyCrc || !isUtf8(name)) return Finding::Invalid;
  return Finding::Whole;
}

/// Two records that claim the same bytes: one of them is wrong and nothing says which, so both go. Leaves the others in
/// the order of their offsets.
void Directory::dropOverlapping(std::vector<uint32_t>& whole, std::vector<uint32_t>& dropped, Recovery& recovery) {
  // Sorted as pairs: looking each offset up in its slot would miss the cache at every comparison.
  std::vector<std::pair<uint64_t, uint32_t>> byOffset;
  byOffset.reserve(whole.size());
  for (const uint32_t number : whole)
    byOffset.emplace_back(slots_[number].extent.offset, number);
  std::sort(byOffset.begin(), byOffset.end());
  whole.clear();
  for (size_t i = 0; i < byOffset.size();) {
    uint64_t end = byOffset[i].first + slots_[byOffset[i].second].extent.length;
    size_t next = i + 1;
    for (; next < byOffset.size() && byOffset[next].first < end; ++next)
      end = std::max(end, byOffset[next].first + slots_[byOffset[next].second].extent.length);
    const bool alone = next == i + 1;
    recovery.overlapping += alone ? 0 : next - i;
    for (; i < next; ++i)
      (alone ? whole : dropped).push_back(byOffset[i].second);
  }
}

void Directory::restore(const std::vector<uint32_t>& whole, std::vector<uint32_t>& dropped, Recovery& recovery) {
  byId_.reserve(whole.size());
  const auto drop = [&](uint32_t number) {
    slots_[number] = Slot{};
    dropped.push_back(number);
  };
  for (const uint32_t number : whole) {
    if (slots_[number].objectId < purgeId()) {
      // The life before ended between the purge id and the last record below it.
      ++recovery.purged;
      drop(number);
    } else if (slots_[number].state == SlotState::Tombstone) {
      if (const std::optional<uint32_t> older = restoreTombstone(number)) drop(*older);
    } else if (byId_.emplace(slots_[number].objectId, number).second) {
      count(slots_[number].objectId);
    } else {
      // reserve() never lets one object in twice, so a second one is damage; the first found stays readable.
      ++recovery.invalid;
      drop(number);
    }
  }
  std::vector<Range> used;
  used.reserve(whole.size());
  for (const uint32_t number : whole) {
    if (slots_[number].state != SlotState::Free) used.push_back(slots_[number].extent);
  }
  allocator_.takeAll(used);
}

/// Two of one key are what a crash leaves in the middle of replacing the older one: that one is returned.
std::optional<uint32_t> Directory::restoreTombstone(uint32_t number) {
  const ObjectId& id = slots_[number].objectId;
  if (id > highestObject_) highestObject_ = id;
  const auto [known, first] = tombstones_.emplace(key(slots_[number]), number);
  if (first) return std::nullopt;
  if (id <= slots_[known->second].objectId) return number;
  return std::exchange(known->second, number);
}

}  // namespace kvpool::store
