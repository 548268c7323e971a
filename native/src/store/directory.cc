// SPDX-License-Identifier: Apache-2.0
#include "store/directory.h"

#include <cstring>
#include <stdexcept>

#include "base/utf8.h"

namespace kvpool::store {
namespace {

/// Generations promised to the file at a time: one store of the state for as many reservations.
constexpr uint64_t kGenerationBlock = 4096;

}  // namespace

Directory::Directory(std::span<uint8_t> file, const Geometry& geometry, StatePages& state, StoreGate& gate)
    : file_(file),
      geometry_(geometry),
      state_(state),
      gate_(gate),
      allocator_(geometry.dataOffset, geometry.dataOffset + geometry.dataBytes),
      generation_(state.get().generationHighWater) {}

std::string_view Directory::key(const Slot& slot) const {
  return {reinterpret_cast<const char*>(file_.data() + slot.extent.offset), slot.keyLength};
}

uint64_t Directory::nextGeneration() {
  if (generation_ >= state_.get().generationHighWater) {
    state_.update([&](SegmentState& state) { state.generationHighWater = generation_ + kGenerationBlock; });
  }
  return generation_++;
}

Result<uint32_t> Directory::reserve(const ObjectId& id, std::string_view key, uint64_t payloadLength) {
  if (key.empty() || key.size() > KV_KEY_BYTES_MAX || !isUtf8(key)) {
    return Status(KV_INVALID_KEY, "a key is 1 to 4096 bytes of UTF-8");
  }
  const auto keyLength = static_cast<uint32_t>(key.size());
  const std::optional<uint64_t> extentBytes = extentBytesFor(keyLength, payloadLength);
  if (!extentBytes || *extentBytes > geometry_.dataBytes) {
    return Status(KV_TOO_LARGE, "the segment holds " + std::to_string(geometry_.dataBytes) + " bytes");
  }
  const auto known = byId_.find(id);
  if (known != byId_.end()) {
    const bool committed = slots_[known->second].state == SlotState::Committed;
    return Status(committed ? KV_EXISTS : KV_BUSY, "object " + toString(id) + " is here already");
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
  slots_[number] =
      Slot{SlotState::Reserved, keyLength, 0, nextGeneration(), id, {*offset, *extentBytes}, payloadLength};
  byId_.emplace(id, number);
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
  ++objects_;
  if (slot.objectId > highestObject_) highestObject_ = slot.objectId;
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
  if (find(extent, id) == nullptr) return false;
  --objects_;
  release(extent.slot);
  return true;
}

void Directory::release(uint32_t number) {
  Slot& slot = slots_[number];
  const Slot old = slot;
  slot = Slot{};
  slot.generation = old.generation;
  storeRecord(number);
  byId_.erase(old.objectId);
  freeSlots_.push_back(number);
  if (!pins_.quarantine(old.generation, old.extent)) allocator_.release(old.extent);
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
  if (slot.state == SlotState::Committed) record.keyCrc = crc32c(key(slot));
  record.payloadCrc = slot.payloadCrc;
  record.slot = number;
  record.crc = recordCrc(record);
  gate_.store(file_.data() + recordOffset(number), &record, sizeof record);
}

}  // namespace kvpool::store
