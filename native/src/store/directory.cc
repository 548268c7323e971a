// SPDX-License-Identifier: Apache-2.0
#include "store/directory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "base/utf8.h"
#include "store/overlaps.h"

namespace kvpool::store {
namespace {

/// Generations promised to the file at a time: one store of the state for as many reservations.
constexpr uint64_t kGenerationBlock = 4096;

bool isKey(std::string_view key) {
  return !key.empty() && key.size() <= KV_KEY_BYTES_MAX && isUtf8(key);
}

Status keyRefused() {
  return {KV_INVALID_KEY, "a key is 1 to " + std::to_string(KV_KEY_BYTES_MAX) + " bytes of UTF-8"};
}

SegmentHeader headerOf(std::span<const uint8_t> file) {
  SegmentHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  return header;
}

}  // namespace

Directory::Directory(std::span<uint8_t> file, const Geometry& geometry, StatePages& state, StoreGate& gate)
    : file_(file),
      geometry_(geometry),
      state_(state),
      gate_(gate),
      allocator_(geometry.dataOffset, geometry.dataOffset + geometry.dataBytes),
      generation_(state.get().generationHighWater),
      seal_(sealOf(headerOf(file), state.get())) {}

std::string_view Directory::key(const Slot& slot) const {
  return {reinterpret_cast<const char*>(file_.data() + slot.extent.offset), slot.keyLength};
}

bool Directory::isKeyIntact(const Slot& slot) const {
  return crc32c(key(slot)) == slot.keyCrc;
}

uint64_t Directory::nextGeneration() {
  if (generation_ >= state_.get().generationHighWater) {
    state_.update([&](SegmentState& state) { state.generationHighWater = generation_ + kGenerationBlock; });
  }
  return generation_++;
}

void Directory::activate(const wire::ActiveVersions& active) {
  const wire::ActiveVersions before = state_.active();
  if (active.wire <= before.wire && active.layout <= before.layout) return;
  // Records of generations that were promised already are in the old layout, also those of writes under way.
  const uint64_t since = state_.get().generationHighWater;
  state_.update([&](SegmentState& state) {
    state.activeWire = std::max(active.wire, before.wire);
    if (active.layout <= before.layout) return;
    state.activeLayout = active.layout;
    state.layoutSince = since;
  });
  if (active.layout > before.layout) generation_ = since;
  seal_ = sealOf(headerOf(file_), state_.get());
}

Result<uint32_t> Directory::reserve(const ObjectId& id, std::string_view key, uint64_t payloadLength,
                                    const Retention& retention) {
  if (!isKey(key)) return keyRefused();
  const auto known = byId_.find(id);
  if (known != byId_.end()) {
    const bool committed = slots_[known->second].state == SlotState::Committed;
    return Status(committed ? KV_EXISTS : KV_BUSY, "object " + toString(id) + " is here already");
  }
  if (removed(id, key)) return Status(KV_STALE_EPOCH, "object " + toString(id) + " is removed already");
  if (Status inUse = state_.takeBackEmptied(); !inUse.ok()) return inUse;
  Result<uint32_t> slot = occupy(id, key, payloadLength, retention);
  if (slot.ok()) byId_.emplace(id, slot.value());
  return slot;
}

Result<uint32_t> Directory::occupy(const ObjectId& id, std::string_view key, uint64_t payloadLength,
                                   const Retention& retention) {
  const auto keyLength = static_cast<uint32_t>(key.size());
  const std::optional<uint64_t> extentBytes = extentBytesFor(keyLength, payloadLength);
  if (!extentBytes || *extentBytes > geometry_.dataBytes) {
    return Status(KV_TOO_LARGE, "the segment holds " + std::to_string(geometry_.dataBytes) + " bytes");
  }
  if (freeSlots_.empty() && slots_.size() >= geometry_.slots) {
    return Status(KV_NO_SPACE, "all " + std::to_string(geometry_.slots) + " slots are used");
  }
  const std::optional<uint64_t> offset = allocator_.allocate(*extentBytes);
  if (!offset) return Status(KV_NO_SPACE, "no free range of " + std::to_string(*extentBytes) + " bytes");

  uint32_t number = static_cast<uint32_t>(slots_.size());
  if (freeSlots_.empty()) {
    slots_.emplace_back();
  } else {
    number = freeSlots_.back();
    freeSlots_.pop_back();
  }
  Slot& slot = slots_[number];
  slot = Slot{};
  slot.state = SlotState::Reserved;
  slot.keyLength = keyLength;
  slot.keyCrc = crc32c(key);
  slot.generation = nextGeneration();
  slot.objectId = id;
  slot.extent = {*offset, *extentBytes};
  slot.payloadLength = payloadLength;
  slot.retention = retention;
  storeRecord(number);
  std::memcpy(file_.data() + *offset, key.data(), key.size());
  return number;
}

void Directory::commit(uint32_t number, uint32_t payloadCrc) {
  Slot& slot = slots_[number];
  if (slot.state != SlotState::Reserved) throw std::logic_error("committed a slot that is not reserved");
  slot.state = SlotState::Committed;
  slot.payloadCrc = payloadCrc;
  storeRecord(number);
  count(slot.objectId);
}

void Directory::count(const ObjectId& id) {
  ++objects_;
  idsHash_ += idHash(id);
  if (id > highestObject_) highestObject_ = id;
}

void Directory::abort(uint32_t number) {
  if (slots_[number].state != SlotState::Reserved) throw std::logic_error("aborted a slot that is not reserved");
  release(number);
}

const Slot* Directory::find(const ExtentRef& extent, const ObjectId& id) const {
  if (extent.segment != 0 || extent.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[extent.slot];
  const bool same = slot.state == SlotState::Committed && slot.generation == extent.generation && slot.objectId == id;
  return same ? &slot : nullptr;
}

bool Directory::free(const ExtentRef& extent, const ObjectId& id) {
  if (extent.segment != 0 || extent.slot >= slots_.size()) return false;
  const Slot& slot = slots_[extent.slot];
  const bool whole = slot.state == SlotState::Committed || slot.state == SlotState::Tombstone;
  if (!whole || slot.generation != extent.generation || slot.objectId != id) return false;
  if (slot.state == SlotState::Committed) {
    --objects_;
    idsHash_ -= idHash(id);
  }
  release(extent.slot);
  return true;
}

void Directory::release(uint32_t number) {
  Slot& slot = slots_[number];
  const Slot old = slot;
  slot = Slot{};
  slot.generation = old.generation;
  storeRecord(number);
  forget(number, old);
  freeSlots_.push_back(number);
  if (!pins_.quarantine(old.generation, old.extent)) allocator_.release(old.extent);
}

// ---- tombstones ----

bool Directory::removed(const ObjectId& id, std::string_view key) const {
  if (id < purgeId()) return true;
  const auto tombstone = tombstones_.find(key);
  return tombstone != tombstones_.end() && id <= slots_[tombstone->second].objectId;
}

Result<KeptTombstones> Directory::keepTombstones(std::span<const Tombstone> tombstones) {
  std::map<std::string_view, ObjectId> newest;
  for (const Tombstone& tombstone : tombstones) {
    if (!isKey(tombstone.key)) return keyRefused();
    ObjectId& id = newest[tombstone.key];
    id = std::max(id, tombstone.objectId);
  }
  std::vector<uint32_t> reserved;
  for (const auto& [key, id] : newest) {
    if (removed(id, key)) continue;
    const Result<uint32_t> slot = occupy(id, key, 0, {});
    if (!slot.ok()) {
      for (const uint32_t number : reserved)
        release(number);
      return slot.status();
    }
    reserved.push_back(slot.value());
  }
  KeptTombstones out;
  for (const uint32_t number : reserved)
    keepTombstone(number, out);
  return out;
}

/// The new record first: a crash in between leaves two tombstones, and recovery keeps the newer.
void Directory::keepTombstone(uint32_t number, KeptTombstones& out) {
  Slot& slot = slots_[number];
  slot.state = SlotState::Tombstone;
  storeRecord(number);
  out.made.push_back(number);
  if (slot.objectId > highestObject_) highestObject_ = slot.objectId;
  const auto [known, first] = tombstones_.emplace(key(slot), number);
  if (first) return;
  const uint32_t older = std::exchange(known->second, number);
  out.superseded.push_back({{0, older, slots_[older].generation}, slots_[older].objectId});
  release(older);
}

void Directory::forget(uint32_t number, const Slot& old) {
  const auto object = byId_.find(old.objectId);
  if (object != byId_.end() && object->second == number) byId_.erase(object);
  if (old.state != SlotState::Tombstone) return;
  const auto tombstone = tombstones_.find(key(old));
  if (tombstone != tombstones_.end() && tombstone->second == number) tombstones_.erase(tombstone);
}

void Directory::unpin(uint64_t generation) {
  const std::optional<Range> freed = pins_.unpin(generation);
  if (freed) allocator_.release(*freed);
}

void Directory::storeRecord(uint32_t number) {
  const Slot& slot = slots_[number];
  DirectoryRecord record{};
  record.state = static_cast<uint32_t>(slot.state);
  record.generation = slot.generation;
  record.objectEpoch = slot.objectId.epoch;
  record.objectCounter = slot.objectId.counter;
  record.offset = slot.extent.offset;
  record.extentBytes = slot.extent.length;
  record.payloadLength = slot.payloadLength;
  record.keyLength = slot.keyLength;
  // The key's bytes are in the file only after the reserved record, so its checksum is first in the committed one.
  if (slot.state == SlotState::Committed || slot.state == SlotState::Tombstone) record.keyCrc = slot.keyCrc;
  record.payloadCrc = slot.payloadCrc;
  record.slot = number;
  record.pins = slot.retention.pins;
  record.softPinMs = slot.retention.softPinMs;
  record.group = slot.retention.group;
  record.crc = recordCrc(record, seal_);
  gate_.store(file_.data() + recordOffset(number), &record, sizeof record);
}

// ---- recovery ----

Recovery Directory::recover(unsigned threads) {
  Survey found = RecordReader(file_, geometry_, seal_, state_.get().generationHighWater).run(threads);
  slots_ = std::move(found.slots);
  dropOverlapping(found);
  restore(found);
  for (const uint32_t number : found.dropped) {
    slots_[number] = Slot{};
    storeRecord(number);
  }
  for (uint32_t number = slotsTouched(); number-- > 0;) {
    if (slots_[number].state == SlotState::Free) freeSlots_.push_back(number);
  }
  recovery_ = found.counts;
  recovery_.restored = objects_;
  recovery_.restoredHash = idsHash_;
  recovery_.tombstones = tombstones_.size();
  return recovery_;
}

/// Records that claim the same bytes go, all of them. Leaves the others in the order of their offsets.
void Directory::dropOverlapping(Survey& found) const {
  std::vector<Claim> claims;
  claims.reserve(found.whole.size());
  for (const uint32_t number : found.whole)
    claims.push_back({slots_[number].extent, number});
  Claims sorted = sortOut(std::move(claims));
  found.whole = std::move(sorted.alone);
  found.dropped.insert(found.dropped.end(), sorted.overlapping.begin(), sorted.overlapping.end());
  found.counts.overlapping += sorted.overlapping.size();
}

void Directory::restore(Survey& found) {
  byId_.reserve(found.whole.size());
  const auto drop = [&](uint32_t number) {
    slots_[number] = Slot{};
    found.dropped.push_back(number);
  };
  for (const uint32_t number : found.whole) {
    if (slots_[number].objectId.epoch > state_.get().epoch) {
      ++found.counts.above;
      drop(number);
    } else if (slots_[number].objectId < purgeId()) {
      // The life before ended between the purge id and the last record below it.
      ++found.counts.purged;
      drop(number);
    } else if (slots_[number].state == SlotState::Tombstone) {
      if (const std::optional<uint32_t> older = restoreTombstone(number)) drop(*older);
    } else if (byId_.emplace(slots_[number].objectId, number).second) {
      count(slots_[number].objectId);
    } else {
      // reserve() never lets one object in twice, so a second one is damage; the first found stays readable.
      ++found.counts.invalid;
      drop(number);
    }
  }
  std::vector<Range> used;
  used.reserve(found.whole.size());
  for (const uint32_t number : found.whole) {
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
