// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "store/allocator.h"
#include "store/layout.h"
#include "store/pins.h"
#include "store/segment_header.h"
#include "store/store_gate.h"

namespace kvpool::store {

/// What a slot holds, as kept in memory; the record in the file says the same.
struct Slot {
  SlotState state = SlotState::Free;
  uint32_t keyLength = 0;
  uint32_t payloadCrc = 0;
  uint64_t generation = 0;
  ObjectId objectId;
  Range extent;
  uint64_t payloadLength = 0;

  [[nodiscard]] uint64_t payloadOffset() const { return extent.offset + payloadDistance(keyLength); }
};

/// What a restart found.
struct Recovery {
  uint64_t restored = 0;    // committed objects, all as they were
  uint64_t unfinished = 0;  // reserved by a writer that never committed; normal
  uint64_t torn = 0;        // records with a wrong checksum
  uint64_t invalid = 0;     // out of range, wrong key, or the same object twice
  uint64_t overlapping = 0;
  [[nodiscard]] uint64_t dropped() const { return torn + invalid + overlapping; }
};

/// The objects of one segment: records in the file, allocation of the data area, pins.
///
/// Order of stores, so that a crash between any two loses at most what was not committed: reserved record with a new
/// generation, key and payload bytes, committed record. A freed extent's record is stored before its bytes can be
/// reused.
class Directory {
 public:
  /// `file` is a whole segment that checkHeader accepted; it, `state` and `gate` outlive the directory.
  Directory(std::span<uint8_t> file, const Geometry& geometry, StatePages& state, StoreGate& gate);

  /// Reads the records, drops what is not whole and rebuilds the allocator. Once, before anything else.
  Recovery recover();

  /// Makes room for an object and stores its key: KV_INVALID_KEY, KV_TOO_LARGE, KV_NO_SPACE, KV_EXISTS (committed here
  /// already) or KV_BUSY (being written here already). The payload goes to payloadOffset() of the slot.
  Result<uint32_t> reserve(const ObjectId& id, std::string_view key, uint64_t payloadLength);
  void commit(uint32_t slot, uint32_t payloadCrc);
  /// Gives a reserved slot back; nobody may write to its payload any more.
  void abort(uint32_t slot);

  /// The slot of a committed object if the extent still holds exactly this one.
  [[nodiscard]] const Slot* find(const ExtentRef& extent, const ObjectId& id) const;
  /// Frees it if find() finds it. Bytes that are pinned are reused after their last pin.
  bool free(const ExtentRef& extent, const ObjectId& id);

  void pin(uint64_t generation) { pins_.pin(generation); }
  void unpin(uint64_t generation);

  [[nodiscard]] const Slot& slot(uint32_t number) const { return slots_[number]; }
  [[nodiscard]] std::string_view key(const Slot& slot) const;
  /// Slots from here on were never used; a walk over all objects ends here.
  [[nodiscard]] uint32_t slotsTouched() const { return static_cast<uint32_t>(slots_.size()); }
  [[nodiscard]] uint32_t slotsUsed() const { return static_cast<uint32_t>(byId_.size()); }
  [[nodiscard]] uint64_t objects() const { return objects_; }
  [[nodiscard]] ObjectId highestObject() const { return highestObject_; }
  /// Allocated, committed or being written; without what is freed but pinned.
  [[nodiscard]] uint64_t usedBytes() const { return allocator_.usedBytes() - pins_.quarantinedBytes(); }
  [[nodiscard]] uint64_t quarantinedBytes() const { return pins_.quarantinedBytes(); }
  [[nodiscard]] uint64_t largestFreeBytes() const { return allocator_.largestFree(); }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }

 private:
  struct IdHash {
    size_t operator()(const ObjectId& id) const {
      return std::hash<uint64_t>{}(id.counter * 0x9E3779B97F4A7C15ULL ^ id.epoch);
    }
  };
  enum class Finding { Free, Unfinished, Torn, Invalid, Committed };

  [[nodiscard]] Finding inspect(uint32_t number, Slot* out) const;
  void dropOverlapping(std::vector<uint32_t>& committed, std::vector<uint32_t>& dropped, Recovery& recovery);
  void restore(const std::vector<uint32_t>& committed, std::vector<uint32_t>& dropped, Recovery& recovery);
  void storeRecord(uint32_t number);
  void release(uint32_t number);
  uint64_t nextGeneration();

  std::span<uint8_t> file_;
  Geometry geometry_;
  StatePages& state_;
  StoreGate& gate_;
  Allocator allocator_;
  Pins pins_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> freeSlots_;  // of slots_; others beyond slots_.size() are free too
  std::unordered_map<ObjectId, uint32_t, IdHash> byId_;
  uint64_t objects_ = 0;
  ObjectId highestObject_;
  uint64_t generation_ = 0;
};

}  // namespace kvpool::store
