// SPDX-License-Identifier: Apache-2.0
#include "ssd/table.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "store/overlaps.h"

namespace kvpool::ssd {

Table::Table(const TierHeader& header)
    : header_(header),
      geometry_(geometryOf(header)),
      purgeId_(purgeIdOf(header)),
      allocator_(header.dataOffset, header.dataOffset + header.dataBytes) {}

// ---- a start ----

void Table::recover(std::span<const uint8_t> blocks, const FateOf& fateOf) {
  for (size_t at = 0; at < blocks.size() && looked_ < geometry_.slots; at += sizeof(TierRecord)) {
    const uint32_t number = looked_++;
    Slot slot;
    const Finding finding =
        decodeRecord(blocks.subspan(at, sizeof(TierRecord)), number, header_.number, geometry_, &slot.object);
    // Generations name extents for ever; one whose record is torn was never readable, or is told by its object's id.
    generation_ = std::max(generation_, slot.object.generation + 1);
    const bool whole = finding == Finding::Whole;
    const ObjectId& id = slot.object.objectId;
    const Fate fate = !whole ? Fate::Alive : id < purged() ? Fate::Dead : fateOf(id, slot.object.key);
    const bool dead = fate != Fate::Alive;
    const bool second = whole && !dead && byId_.contains(slot.object.objectId);
    recovery_.dead += fate == Fate::Dead ? 1 : 0;
    recovery_.above += fate == Fate::Above ? 1 : 0;
    recovery_.torn += finding == Finding::Torn ? 1 : 0;
    recovery_.foreign += finding == Finding::Foreign ? 1 : 0;
    recovery_.invalid += finding == Finding::Invalid || second ? 1 : 0;
    if (whole && !second) {
      slot.state = dead ? State::Clearing : State::Readable;
      if (dead) dirty(number);
      if (!dead) byId_.emplace(slot.object.objectId, number);
    } else {
      const uint64_t generation = slot.object.generation;
      slot = {};
      slot.object.generation = generation;
      if (finding != Finding::Free && finding != Finding::Foreign) dirty(number);
    }
    // Only up to the last slot that says something: one for each there could be is never given back.
    if (slot.state == State::Free && slot.object.generation == 0) continue;
    slots_.resize(size_t{number} + 1);
    slots_[number] = std::move(slot);
  }
}

TierRecovery Table::finishRecovery() {
  std::vector<store::Range> used;
  for (const uint32_t number : dropOverlapping()) {
    const Slot& slot = slots_[number];
    used.push_back(slot.object.extent);
    if (slot.state == State::Clearing) awaitClearing(number);
    objects_ += slot.state == State::Readable ? 1 : 0;
  }
  allocator_.takeAll(used);
  for (auto number = static_cast<uint32_t>(slots_.size()); number-- > 0;) {
    if (slots_[number].state == State::Free) freeSlots_.push_back(number);
  }
  for (const auto& [id, slot] : byId_)
    highestObject_ = std::max(highestObject_, id);
  recovery_.restored = objects_;
  return recovery_;
}

/// Records that claim the same blocks go, all of them. Returns the others in the order of their offsets.
std::vector<uint32_t> Table::dropOverlapping() {
  std::vector<store::Claim> claims;
  for (uint32_t number = 0; number < slots_.size(); ++number) {
    if (slots_[number].state != State::Free) claims.push_back({slots_[number].object.extent, number});
  }
  store::Claims sorted = store::sortOut(std::move(claims));
  recovery_.overlapping += sorted.overlapping.size();
  for (const uint32_t number : sorted.overlapping) {
    Slot& slot = slots_[number];
    if (slot.state == State::Readable) byId_.erase(slot.object.objectId);
    const uint64_t generation = slot.object.generation;
    slot = {};
    slot.object.generation = generation;
    dirty(number);
  }
  return std::move(sorted.alone);
}

// ---- objects ----

Result<uint32_t> Table::begin(const ObjectId& id, std::string_view key, uint64_t payloadLength, uint32_t payloadCrc,
                              const Retention& retention) {
  const auto known = byId_.find(id);
  if (known != byId_.end()) {
    const bool readable = slots_[known->second].state == State::Readable;
    return Status(readable ? KV_EXISTS : KV_BUSY, "object " + toString(id) + " is on the SSD already");
  }
  if (key.empty() || key.size() > kTierKeyBytesMax) {
    return Status(KV_INVALID_KEY, "keys on the SSD have at most " + std::to_string(kTierKeyBytesMax) + " bytes");
  }
  if (payloadLength > kTierPayloadBytesMax) {
    return Status(KV_TOO_LARGE, "objects on the SSD have at most " + std::to_string(kTierPayloadBytesMax) + " bytes");
  }
  if (freeSlots_.empty() && slots_.size() >= geometry_.slots) {
    return Status(KV_NO_SPACE, "all " + std::to_string(geometry_.slots) + " slots of the SSD tier are used");
  }
  const std::optional<uint64_t> offset =
      payloadLength > geometry_.dataBytes ? std::nullopt : allocator_.allocate(tierExtentBytes(payloadLength));
  if (!offset) return Status(KV_NO_SPACE, "no " + std::to_string(payloadLength) + " bytes in one place on the SSD");
  uint32_t number = static_cast<uint32_t>(slots_.size());
  if (freeSlots_.empty()) {
    slots_.emplace_back();
  } else {
    number = freeSlots_.back();
    freeSlots_.pop_back();
  }
  Slot& slot = slots_[number];
  slot.state = State::Writing;
  slot.freed = false;
  slot.object = {id,         std::string(key), generation_++, {*offset, tierExtentBytes(payloadLength)}, payloadLength,
                 payloadCrc, retention};
  byId_.emplace(id, number);
  return number;
}

void Table::written(uint32_t number) {
  Slot& slot = slots_[number];
  if (slot.state != State::Writing) throw std::logic_error("a payload was written that is not waited for");
  slot.state = State::Storing;
  dirty(number);
}

void Table::abandon(uint32_t number) {
  if (slots_[number].state != State::Writing) throw std::logic_error("gave up a payload that is not being written");
  byId_.erase(slots_[number].object.objectId);
  release(number);
}

const Table::Slot* Table::find(const ExtentRef& extent, const ObjectId& id) const {
  if (extent.slot >= slots_.size()) return nullptr;
  const Slot& slot = slots_[extent.slot];
  const bool same =
      slot.state == State::Readable && slot.object.generation == extent.generation && slot.object.objectId == id;
  return same ? &slot : nullptr;
}

std::optional<uint32_t> Table::slotOf(const ObjectId& id) const {
  const auto known = byId_.find(id);
  return known == byId_.end() ? std::nullopt : std::optional<uint32_t>(known->second);
}

bool Table::free(const ExtentRef& extent, const ObjectId& id) {
  if (find(extent, id) == nullptr) return false;
  clear(extent.slot);
  return true;
}

bool Table::freeAnyState(uint32_t number) {
  Slot& slot = slots_[number];
  if (slot.state == State::Readable) clear(number);
  // Its record may be on the device before we can take it back, so it is cleared behind it.
  if (slot.state == State::Storing) {
    slot.freed = true;
    awaitClearing(number);
  }
  return slot.state == State::Clearing || slot.state == State::Storing;
}

void Table::clear(uint32_t number) {
  Slot& slot = slots_[number];
  if (slot.state == State::Readable) --objects_;
  byId_.erase(slot.object.objectId);
  slot.state = State::Clearing;
  awaitClearing(number);
  dirty(number);
}

/// What the header calls dead is not found again, so no request need wait until its record is cleared.
void Table::awaitClearing(uint32_t number) {
  if (slots_[number].object.objectId >= purged()) clearing_.insert(number);
}

void Table::release(uint32_t number) {
  Slot& slot = slots_[number];
  const store::Range extent = slot.object.extent;
  const uint64_t generation = slot.object.generation;
  slot = {};
  slot.object.generation = generation;
  freeSlots_.push_back(number);
  if (!pins_.quarantine(generation, extent)) allocator_.release(extent);
}

void Table::unpin(uint64_t generation) {
  if (const std::optional<store::Range> freed = pins_.unpin(generation)) allocator_.release(*freed);
}

// ---- what the device has to say ----

Table::Batch Table::takeDirty(size_t blocksMax) {
  Batch batch;
  if (purgeId_ > purged()) {
    batch.header = nextHeader(header_, purgeId_);
    batch.blocks.push_back({headerOffset(*batch.header), std::vector<uint8_t>(kBlockBytes)});
    encodeHeader(batch.blocks.back().bytes, *batch.header);
  }
  while (!dirty_.empty() && batch.blocks.size() < blocksMax) {
    const uint32_t block = *dirty_.begin();
    dirty_.erase(dirty_.begin());
    std::vector<uint8_t> bytes(kBlockBytes);
    for (uint32_t i = 0; i < kRecordsPerBlock; ++i) {
      const uint32_t number = block * kRecordsPerBlock + i;
      if (number >= slots_.size()) break;
      encode(number, std::span(bytes).subspan(i * sizeof(TierRecord), sizeof(TierRecord)));
      const State state = slots_[number].state;
      if (state == State::Storing || state == State::Clearing) batch.slots.push_back(number);
    }
    batch.blocks.push_back({blockOffset(block), std::move(bytes)});
  }
  storing_ = !batch.blocks.empty();
  return batch;
}

void Table::encode(uint32_t number, std::span<uint8_t> bytes) const {
  const Slot& slot = slots_[number];
  const bool held = slot.state == State::Storing || slot.state == State::Readable;
  if (held) return encodeRecord(bytes, number, header_.number, slot.object);
  if (slot.object.generation != 0) encodeFree(bytes, number, header_.number, slot.object.generation);
}

Table::Changes Table::stored(const Batch& batch) {
  storing_ = false;
  if (batch.header) header_ = *batch.header;
  Changes changes;
  for (const uint32_t number : batch.slots) {
    Slot& slot = slots_[number];
    if (slot.state == State::Storing) {
      slot.state = State::Readable;
      ++objects_;
      highestObject_ = std::max(highestObject_, slot.object.objectId);
      if (slot.freed) {
        clear(number);
      } else {
        changes.readable.push_back(number);
      }
    } else if (slot.state == State::Clearing && !dirty_.contains(number / kRecordsPerBlock)) {
      changes.freed.push_back({number, slot.object.generation, slot.object.objectId});
      clearing_.erase(number);
      release(number);
    }
  }
  return changes;
}

}  // namespace kvpool::ssd
