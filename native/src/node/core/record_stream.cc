// SPDX-License-Identifier: Apache-2.0
#include "node/core/record_stream.h"

#include "dev_kvpool_wire/DirectoryRecords.h"
#include "wire/frame.h"

namespace kvpool::node {
namespace {

/// A frame of records ends when it holds this much: small enough that heartbeats get through in between.
constexpr size_t kPieceBytes = size_t{128} << 10;
constexpr size_t kPieceRecords = 1024;
/// Slots looked at for one piece, so that a sparse directory does not stall the loop.
constexpr uint32_t kPieceSlots = 16384;

wire::sbe::RecordState::Value stateOf(store::SlotState state) {
  switch (state) {
    case store::SlotState::Committed:
      return wire::sbe::RecordState::COMMITTED;
    case store::SlotState::Tombstone:
      return wire::sbe::RecordState::TOMBSTONE;
    default:
      return wire::sbe::RecordState::FREED;
  }
}

}  // namespace

RecordStream::Record RecordStream::describe(uint32_t number) const {
  const store::Slot& slot = directory_.slot(number);
  return {slot.state,
          {kMemorySegment, number, slot.generation},
          slot.objectId,
          slot.payloadOffset(),
          slot.extent.length,
          slot.payloadLength,
          slot.payloadCrc,
          slot.retention,
          std::string(directory_.key(slot))};
}

RecordStream::Record RecordStream::describeTier(uint32_t number) const {
  const ssd::Described& object = tier_->slot(number).object;
  return {store::SlotState::Committed,
          {kTierSegment, number, object.generation},
          object.objectId,
          object.extent.offset,
          object.extent.length,
          object.payloadLength,
          object.payloadCrc,
          object.retention,
          object.key};
}

void RecordStream::committed(uint32_t slot) {
  changes_.push_back(describe(slot));
  ++sequence_;
}

void RecordStream::tierCommitted(uint32_t slot) {
  changes_.push_back(describeTier(slot));
  ++sequence_;
}

void RecordStream::freed(const ExtentRef& extent, const ObjectId& id) {
  Record record;
  record.extent = extent;
  record.objectId = id;
  changes_.push_back(std::move(record));
  ++sequence_;
}

Frames RecordStream::takeChanges() {
  if (changes_.empty()) return nullptr;
  wire::Bytes out;
  uint64_t number = sequence_ - changes_.size() + 1;
  for (size_t begin = 0; begin < changes_.size();) {
    size_t end = begin;
    for (size_t bytes = 0; end < changes_.size() && end - begin < kPieceRecords && bytes < kPieceBytes; ++end) {
      bytes += room(changes_[end]);
    }
    append(out, false, number, changes_.data() + begin, end - begin);
    number += end - begin;
    begin = end;
  }
  changes_.clear();
  return std::make_shared<const wire::Bytes>(std::move(out));
}

Frames RecordStream::nextPiece(Cursor& cursor) const {
  const uint32_t slots = directory_.slotsTouched();
  const uint32_t tierSlots = tier_ == nullptr ? 0 : tier_->slotsTouched();
  std::vector<Record> records;
  size_t bytes = 0;
  uint32_t seen = 0;
  const auto hasRoom = [&] { return seen < kPieceSlots && records.size() < kPieceRecords && bytes < kPieceBytes; };
  for (; cursor.slot < slots && hasRoom(); ++seen) {
    const uint32_t number = cursor.slot++;
    const store::SlotState state = directory_.slot(number).state;
    if (state != store::SlotState::Committed && state != store::SlotState::Tombstone) continue;
    if (state == store::SlotState::Committed && !directory_.isKeyIntact(directory_.slot(number))) {
      cursor.damaged.push_back(number);
      continue;
    }
    records.push_back(describe(number));
    bytes += room(records.back());
  }
  for (; cursor.slot >= slots && cursor.tierSlot < tierSlots && hasRoom(); ++seen) {
    const uint32_t number = cursor.tierSlot++;
    if (tier_->slot(number).state != ssd::Table::State::Readable) continue;
    records.push_back(describeTier(number));
    bytes += room(records.back());
  }
  cursor.count += records.size();
  cursor.done = cursor.slot >= slots && cursor.tierSlot >= tierSlots;
  if (records.empty()) return nullptr;
  wire::Bytes out;
  append(out, true, 0, records.data(), records.size());
  return std::make_shared<const wire::Bytes>(std::move(out));
}

size_t RecordStream::room(const Record& record) {
  return wire::sbe::DirectoryRecords::Records::sbeBlockLength() + wire::textRoom(record.key.size());
}

void RecordStream::append(wire::Bytes& out, bool snapshot, uint64_t sequence, const Record* records, size_t count) {
  namespace sbe = wire::sbe;
  size_t total = wire::groupRoom(0, 0);
  for (size_t i = 0; i < count; ++i)
    total += room(records[i]);
  wire::appendFrame<sbe::DirectoryRecords>(out, total, [&](sbe::DirectoryRecords& m) {
    m.kind(snapshot ? sbe::RecordKind::SNAPSHOT : sbe::RecordKind::DELTA).sequence(sequence);
    auto& group = m.recordsCount(static_cast<uint16_t>(count));
    for (size_t i = 0; i < count; ++i) {
      const Record& record = records[i];
      group.next()
          .state(stateOf(record.state))
          .offset(record.offset)
          .extentBytes(record.extentBytes)
          .payloadLength(record.payloadLength)
          .payloadCrc(record.payloadCrc);
      wire::put(group.extent(), record.extent);
      wire::put(group.objectId(), record.objectId);
      wire::putRetention(group, record.retention);
      group.putKey(record.key);
    }
  });
}

}  // namespace kvpool::node
