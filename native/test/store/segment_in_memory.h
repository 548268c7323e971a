// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "store/directory.h"
#include "store/segment_header.h"
#include "zeroed_bytes.h"

namespace kvpool::test {

/// The boot of the machine that tests run under.
inline constexpr uint64_t kBoot = 7;

/// Calls `before` before it stores, which may throw.
struct HookedGate : store::StoreGate {
  void store(void* destination, const void* source, size_t length) override {
    if (before) before();
    StoreGate::store(destination, source, length);
  }
  std::function<void()> before;
};

/// A segment in ordinary memory that can be opened again and again, as after restarts.
class SegmentInMemory {
 public:
  explicit SegmentInMemory(uint64_t bytes = store::kSegmentBytesMin, const store::BuildVersions& build = {})
      : memory(bytes), geometry(*store::planGeometry(bytes)) {
    identity.build = build;
    store::formatSegment(memory, geometry, identity, gate);
    open();
  }

  /// A new life over the same bytes, read by so many threads.
  store::Recovery open(unsigned threads = 1) {
    directory.reset();
    state.emplace(memory, gate);
    directory.emplace(memory, geometry, *state, gate);
    return directory->recover(threads);
  }

  /// A leader of this epoch is obeyed.
  void obey(uint64_t epoch) {
    if (epoch > state->get().epoch) state->update([&](store::SegmentState& next) { next.epoch = epoch; });
  }

  /// An object put as the node does it, under a leader of its epoch.
  ExtentRef put(const ObjectId& id, const std::string& key, const std::string& value) {
    obey(id.epoch);
    const Result<uint32_t> slot = directory->reserve(id, key, value.size());
    if (!slot.ok()) throw std::runtime_error(slot.status().text());
    directory->commit(slot.value(), storePayload(directory->slot(slot.value()).payloadOffset(), value));
    return {0, slot.value(), directory->slot(slot.value()).generation};
  }

  /// Puts a payload and its sums there, as the node's shell does; returns its checksum.
  uint32_t storePayload(uint64_t offset, std::string_view value) {
    uint8_t* to = memory.data() + offset;
    RunningSum sum = RunningSum::behind(to, value.size());
    sum.copy(to, reinterpret_cast<const uint8_t*>(value.data()), value.size());
    return sum.crc();
  }

  std::optional<std::string> get(const ExtentRef& extent, const ObjectId& id) const {
    const store::Slot* slot = directory->find(extent, id);
    if (slot == nullptr) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(memory.data() + slot->payloadOffset()), slot->payloadLength);
  }

  store::DirectoryRecord record(uint32_t slot) const {
    store::DirectoryRecord record;
    std::memcpy(&record, memory.data() + store::recordOffset(slot), sizeof record);
    return record;
  }
  /// What the checksums of records start with, as header and state say now.
  [[nodiscard]] store::RecordSeal seal() const {
    store::SegmentHeader header;
    std::memcpy(&header, memory.data(), sizeof header);
    const std::optional<store::SegmentState> newest = store::newestState(memory);
    return newest ? store::sealOf(header, *newest) : store::RecordSeal{};
  }
  /// Puts a record into the file as if the node had stored it, checksum included.
  void forge(uint32_t slot, store::DirectoryRecord record) {
    record.slot = slot;
    record.crc = store::recordCrc(record, seal());
    std::memcpy(memory.data() + store::recordOffset(slot), &record, sizeof record);
  }

  store::SegmentIdentity identity{{0x11, 0x22}, "node-0", 0};
  ZeroedBytes memory;
  store::Geometry geometry;
  HookedGate gate;
  std::optional<store::StatePages> state;
  std::optional<store::Directory> directory;
};

}  // namespace kvpool::test
