// SPDX-License-Identifier: Apache-2.0
// The part of Directory that runs once, when a segment is opened: every record is checked, what is not whole is dropped
// and counted, never guessed.
#include <algorithm>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/quiet_thread.h"
#include "base/utf8.h"
#include "store/directory.h"
#include "store/overlaps.h"

namespace kvpool::store {
namespace {

/// About 30 ms of work: a thread costs less than it saves.
constexpr uint32_t kSlotsPerThread = 65536;
constexpr unsigned kReadersMax = 8;

bool neverUsed(const DirectoryRecord& record) {
  static const DirectoryRecord zero{};
  return std::memcmp(&record, &zero, sizeof record) == 0;
}

/// Threads look at neighbouring ranges of the slots; joined in the order of the ranges, what they found does not depend
/// on how many they were.
template <typename Look>
std::vector<std::invoke_result_t<Look, uint32_t, uint32_t>> inParts(uint32_t slots, unsigned threads, Look look) {
  using Found = std::invoke_result_t<Look, uint32_t, uint32_t>;
  threads = std::max(threads, 1U);
  const uint32_t share = slots / threads + 1;
  std::vector<std::packaged_task<Found()>> parts;
  for (unsigned i = 0; i < threads; ++i) {
    const uint32_t begin = std::min(slots, i * share);
    const uint32_t end = std::min(slots, begin + share);
    parts.emplace_back([&look, begin, end] { return look(begin, end); });
  }
  std::vector<std::thread> others;
  others.reserve(threads);
  for (unsigned i = 1; i < threads; ++i) {
    try {
      others.push_back(startQuietThread("kvpool-recovery", [&part = parts[i]] { part(); }));
    } catch (const std::system_error&) {
      parts[i]();  // no thread to be had: slower, not worse
    }
  }
  parts[0]();
  for (std::thread& other : others)
    other.join();
  std::vector<Found> found;
  found.reserve(threads);
  for (std::packaged_task<Found()>& done : parts)
    found.push_back(done.get_future().get());
  return found;
}

}  // namespace

unsigned recoveryThreads(unsigned processors, uint32_t slots) {
  return std::clamp(std::min(processors, slots / kSlotsPerThread), 1U, kReadersMax);
}

/// What the records of a range of slots were found to be.
struct Directory::Survey {
  std::vector<uint32_t> whole;
  std::vector<uint32_t> dropped;  // their records in the file are not free yet
  Recovery counts;
};

/// The number behind the last slot of a range that is not free; 0 when all are. Such slots are as good as never used,
/// and a slot in memory for each there could be would take a 50th of the segment.
uint32_t Directory::endOfUsed(uint32_t begin, uint32_t end) const {
  Slot ignored;
  while (end > begin && inspect(end - 1, &ignored) == Finding::Free)
    --end;
  return end > begin ? end : 0;
}

Directory::Survey Directory::survey(std::span<Slot> found, uint32_t begin, uint32_t end) const {
  Survey survey;
  for (uint32_t number = begin; number < end; ++number) {
    Slot& slot = found[number];
    const Finding finding = inspect(number, &slot);
    if (finding == Finding::Whole) {
      survey.whole.push_back(number);
    } else if (finding != Finding::Free) {
      slot = Slot{};
      survey.dropped.push_back(number);
      survey.counts.unfinished += finding == Finding::Unfinished ? 1 : 0;
      survey.counts.torn += finding == Finding::Torn ? 1 : 0;
      survey.counts.invalid += finding == Finding::Invalid ? 1 : 0;
    }
  }
  return survey;
}

Directory::Survey Directory::surveyAll(std::span<Slot> found, unsigned threads) const {
  Survey all;
  const auto look = [this, found](uint32_t begin, uint32_t end) { return survey(found, begin, end); };
  for (const Survey& part : inParts(static_cast<uint32_t>(found.size()), threads, look)) {
    all.whole.insert(all.whole.end(), part.whole.begin(), part.whole.end());
    all.dropped.insert(all.dropped.end(), part.dropped.begin(), part.dropped.end());
    all.counts.unfinished += part.counts.unfinished;
    all.counts.torn += part.counts.torn;
    all.counts.invalid += part.counts.invalid;
  }
  return all;
}

Recovery Directory::recover(unsigned threads) {
  const auto endOfRange = [this](uint32_t begin, uint32_t end) { return endOfUsed(begin, end); };
  const std::vector<uint32_t> ends = inParts(geometry_.slots, threads, endOfRange);
  slots_ = std::vector<Slot>(*std::max_element(ends.begin(), ends.end()));
  auto [whole, dropped, recovery] = surveyAll(slots_, threads);

  dropOverlapping(whole, dropped, recovery);
  restore(whole, dropped, recovery);
  for (const uint32_t number : dropped) {
    slots_[number] = Slot{};
    storeRecord(number);
  }
  for (uint32_t number = slotsTouched(); number-- > 0;) {
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

/// Records that claim the same bytes go, all of them. Leaves the others in the order of their offsets.
void Directory::dropOverlapping(std::vector<uint32_t>& whole, std::vector<uint32_t>& dropped, Recovery& recovery) {
  std::vector<Claim> claims;
  claims.reserve(whole.size());
  for (const uint32_t number : whole)
    claims.push_back({slots_[number].extent, number});
  Claims sorted = sortOut(std::move(claims));
  whole = std::move(sorted.alone);
  dropped.insert(dropped.end(), sorted.overlapping.begin(), sorted.overlapping.end());
  recovery.overlapping += sorted.overlapping.size();
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
