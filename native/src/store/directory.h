// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/retention.h"
#include "base/status.h"
#include "store/allocator.h"
#include "store/layout.h"
#include "store/pins.h"
#include "store/record_reader.h"
#include "store/segment_header.h"
#include "store/store_gate.h"

namespace kvpool::store {

/// An extent and what was in it.
struct Occupant {
  ExtentRef extent;
  ObjectId objectId;
};

/// A removed key: its objects up to `objectId` are dead.
struct Tombstone {
  ObjectId objectId;
  std::string_view key;
};

/// What keeping tombstones changed, in the order in which it became true.
struct KeptTombstones {
  std::vector<uint32_t> made;        // slots of new tombstones
  std::vector<Occupant> superseded;  // older tombstones of the same keys, freed
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

  /// Reads the records, in so many threads, drops what is not whole and rebuilds the allocator. Once, before anything
  /// else.
  Recovery recover(unsigned threads = 1);

  /// Makes room for an object and stores its key: KV_INVALID_KEY, KV_TOO_LARGE, KV_NO_SPACE, KV_EXISTS (committed here
  /// already), KV_BUSY (being written here already) or KV_STALE_EPOCH (removed or purged already). The payload goes to
  /// payloadOffset() of the slot.
  Result<uint32_t> reserve(const ObjectId& id, std::string_view key, uint64_t payloadLength,
                           const Retention& retention = {});
  void commit(uint32_t slot, uint32_t payloadCrc);
  /// Gives a reserved slot back; nobody may write to its payload any more.
  void abort(uint32_t slot);

  /// The slot of a committed object if the extent still holds exactly this one.
  [[nodiscard]] const Slot* find(const ExtentRef& extent, const ObjectId& id) const;
  /// Frees an object, or lifts a tombstone, if the extent still holds exactly this one. Bytes that are pinned are
  /// reused after their last pin.
  bool free(const ExtentRef& extent, const ObjectId& id);

  /// Keeps tombstones, all or none: KV_INVALID_KEY, KV_NO_SPACE. A key keeps only its newest; one that is no newer than
  /// what is here changes nothing.
  Result<KeptTombstones> keepTombstones(std::span<const Tombstone> tombstones);
  /// Whether an object of this id and key is below the purge id, or a tombstone of its key covers it.
  [[nodiscard]] bool removed(const ObjectId& id, std::string_view key) const;
  [[nodiscard]] bool removed(uint32_t slot) const { return removed(slots_[slot].objectId, key(slots_[slot])); }
  /// From now on records are written in `active.layout`; both numbers are in the file when it returns. Lower ones than
  /// those that are active change nothing. The caller has checked that this build knows them.
  void activate(const wire::ActiveVersions& active);

  [[nodiscard]] ObjectId purgeId() const { return {state_.get().purgeEpoch, state_.get().purgeCounter}; }

  /// The payload of a restored object was compared with its checksum.
  void setVerified(uint32_t slot) { slots_[slot].verified = true; }
  [[nodiscard]] std::span<const uint8_t> payload(const Slot& slot) const {
    return file_.subspan(slot.payloadOffset(), slot.payloadLength);
  }
  /// Where the payload of a reserved slot goes, with room for its sums behind.
  [[nodiscard]] std::span<uint8_t> room(uint32_t slot) {
    return file_.subspan(slots_[slot].payloadOffset(), slots_[slot].payloadLength);
  }
  /// Where the sums of the payload are.
  [[nodiscard]] const uint8_t* sums(const Slot& slot) const {
    return sumsBehind(static_cast<const uint8_t*>(file_.data()) + slot.payloadOffset(), slot.payloadLength);
  }

  void pin(uint64_t generation) { pins_.pin(generation); }
  void unpin(uint64_t generation);

  [[nodiscard]] const Slot& slot(uint32_t number) const { return slots_[number]; }
  [[nodiscard]] std::string_view key(const Slot& slot) const;
  /// Whether the bytes of the key in the segment are still those that were stored.
  [[nodiscard]] bool isKeyIntact(const Slot& slot) const;
  /// Slots from here on are free; a walk over all objects ends here.
  [[nodiscard]] uint32_t slotsTouched() const { return static_cast<uint32_t>(slots_.size()); }
  [[nodiscard]] uint32_t slotsUsed() const { return static_cast<uint32_t>(byId_.size() + tombstones_.size()); }
  [[nodiscard]] uint64_t objects() const { return objects_; }
  [[nodiscard]] uint64_t tombstones() const { return tombstones_.size(); }
  /// Sum of idHash over the committed objects: two directories with the same objects have the same, in whatever order.
  [[nodiscard]] uint64_t idsHash() const { return idsHash_; }
  [[nodiscard]] ObjectId highestObject() const { return highestObject_; }
  /// Allocated to objects and tombstones, whole or being written; without what is freed but pinned.
  [[nodiscard]] uint64_t usedBytes() const { return allocator_.usedBytes() - pins_.quarantinedBytes(); }
  [[nodiscard]] uint64_t quarantinedBytes() const { return pins_.quarantinedBytes(); }
  [[nodiscard]] uint64_t largestFreeBytes() const { return allocator_.largestFree(); }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  /// What recover() found.
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  struct IdHash {
    size_t operator()(const ObjectId& id) const {
      return std::hash<uint64_t>{}(id.counter * 0x9E3779B97F4A7C15ULL ^ id.epoch);
    }
  };
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  };
  void dropOverlapping(Survey& found) const;
  void restore(Survey& found);
  std::optional<uint32_t> restoreTombstone(uint32_t number);

  /// A reserved slot with a new generation and its key in place; KV_TOO_LARGE, KV_NO_SPACE.
  Result<uint32_t> occupy(const ObjectId& id, std::string_view key, uint64_t payloadLength, const Retention& retention);
  void storeRecord(uint32_t number);
  void release(uint32_t number);
  void forget(uint32_t number, const Slot& old);
  void count(const ObjectId& id);
  void keepTombstone(uint32_t number, KeptTombstones& out);
  uint64_t nextGeneration();

  std::span<uint8_t> file_;
  Geometry geometry_;
  StatePages& state_;
  StoreGate& gate_;
  Allocator allocator_;
  Pins pins_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> freeSlots_;                      // of slots_; others beyond slots_.size() are free too
  std::unordered_map<ObjectId, uint32_t, IdHash> byId_;  // objects, whole or being written
  std::unordered_map<std::string, uint32_t, KeyHash, std::equal_to<>> tombstones_;
  uint64_t objects_ = 0;
  uint64_t idsHash_ = 0;
  ObjectId highestObject_;
  uint64_t generation_ = 0;
  RecordSeal seal_;
  Recovery recovery_;
};

}  // namespace kvpool::store
