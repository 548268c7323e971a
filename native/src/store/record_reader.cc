// SPDX-License-Identifier: Apache-2.0
#include "store/record_reader.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>

#include "base/checked.h"
#include "base/crc32c.h"
#include "base/quiet_thread.h"
#include "base/utf8.h"

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

Survey RecordReader::run(unsigned threads) const {
  const auto endOfRange = [this](uint32_t begin, uint32_t end) { return endOfUsed(begin, end); };
  const std::vector<uint32_t> ends = inParts(geometry_.slots, threads, endOfRange);
  Survey all;
  all.slots = std::vector<Slot>(*std::max_element(ends.begin(), ends.end()));
  const auto look = [this, &all](uint32_t begin, uint32_t end) { return survey(all.slots, begin, end); };
  for (const Survey& part : inParts(static_cast<uint32_t>(all.slots.size()), threads, look)) {
    all.whole.insert(all.whole.end(), part.whole.begin(), part.whole.end());
    all.dropped.insert(all.dropped.end(), part.dropped.begin(), part.dropped.end());
    all.counts.unfinished += part.counts.unfinished;
    all.counts.torn += part.counts.torn;
    all.counts.invalid += part.counts.invalid;
  }
  return all;
}

/// The number behind the last slot of a range that is not free; 0 when all are. Such slots are as good as never used,
/// and a slot in memory for each there could be would take a 50th of the segment.
uint32_t RecordReader::endOfUsed(uint32_t begin, uint32_t end) const {
  Slot ignored;
  while (end > begin && inspect(end - 1, &ignored) == Finding::Free)
    --end;
  return end > begin ? end : 0;
}

Survey RecordReader::survey(std::span<Slot> found, uint32_t begin, uint32_t end) const {
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

RecordReader::Finding RecordReader::inspect(uint32_t number, Slot* out) const {
  DirectoryRecord record;
  std::memcpy(&record, file_.data() + recordOffset(number), sizeof record);
  if (neverUsed(record)) return Finding::Free;
  if (record.slot != number || record.crc != recordCrc(record, seal_)) return Finding::Torn;
  if (record.generation >= generationHighWater_) return Finding::Invalid;
  out->generation = record.generation;
  if (record.state == static_cast<uint32_t>(SlotState::Free)) return Finding::Free;
  if (record.state == static_cast<uint32_t>(SlotState::Reserved)) return Finding::Unfinished;
  const bool tombstone = record.state == static_cast<uint32_t>(SlotState::Tombstone);
  if (!tombstone && record.state != static_cast<uint32_t>(SlotState::Committed)) return Finding::Invalid;

  out->state = tombstone ? SlotState::Tombstone : SlotState::Committed;
  out->keyLength = record.keyLength;
  out->keyCrc = record.keyCrc;
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
  const std::string_view name(reinterpret_cast<const char*>(file_.data() + record.offset), record.keyLength);
  if (crc32c(name) != record.keyCrc || !isUtf8(name)) return Finding::Invalid;
  return Finding::Whole;
}

}  // namespace kvpool::store
