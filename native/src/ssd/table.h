// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ssd/layout.h"
#include "store/pins.h"

namespace kvpool::ssd {

/// What a start found in the table.
struct TierRecovery {
  uint64_t restored = 0;
  uint64_t dead = 0;     // removed or purged while the node was away; freed now
  uint64_t foreign = 0;  // left by an earlier tier on the same device
  uint64_t torn = 0;
  uint64_t invalid = 0;
  uint64_t overlapping = 0;
  uint64_t above = 0;  // of an epoch that no leader the node knew had
  [[nodiscard]] uint64_t dropped() const { return torn + invalid + overlapping + above; }
};

/// The objects of one SSD tier: which slot and which blocks each has, and which blocks of the table have to be written
/// for the device to say the same. Does no I/O: callers write what takeDirty() gives them and say so with stored().
///
/// An object is readable, and masters may be told of it, from when its record is on the device; its blocks and its slot
/// are used again only after the device says that they are free. So a crash at any write leaves each object as it was
/// before or after, and no record of another one that points to its bytes.
class Table {
 public:
  enum class State : uint8_t {
    Free,
    Writing,   // the payload is on its way
    Storing,   // the record is to be written, or on its way
    Readable,  // the record is on the device
    Clearing,  // freed here, but the device does not say so yet
  };
  struct Slot {
    State state = State::Free;
    bool freed = false;  // Storing: to be cleared as soon as it is on the device
    Described object;
  };
  /// Blocks of the table, and of the header, as they have to be on the device now.
  struct Batch {
    struct Block {
      uint64_t offset = 0;         // on the device
      std::vector<uint8_t> bytes;  // kBlockBytes
    };
    std::vector<Block> blocks;
    std::vector<uint32_t> slots;  // whose records change by it
    std::optional<TierHeader> header;
  };
  /// What became true with a batch that is on the device.
  struct Changes {
    std::vector<uint32_t> readable;
    struct Freed {
      uint32_t slot;
      uint64_t generation;
      ObjectId objectId;
    };
    std::vector<Freed> freed;
  };
  /// What the segment beside it says of an object, whatever the table says.
  enum class Fate { Alive, Dead, Above };
  using FateOf = std::function<Fate(const ObjectId& id, std::string_view key)>;

  /// `header`: as it is on the device.
  explicit Table(const TierHeader& header);

  /// Takes in the next blocks of the table as read from the device, from the first one on. Then finishRecovery(), once.
  /// Objects that are not alive are being cleared from then on.
  void recover(std::span<const uint8_t> blocks, const FateOf& fateOf);
  /// Drops objects that claim the same blocks. What was dropped is cleared on the device by the next batches.
  TierRecovery finishRecovery();

  /// Room for an object whose payload is about to be written: KV_EXISTS (it is here already), KV_BUSY (it is on its
  /// way), KV_INVALID_KEY (longer than kTierKeyBytesMax), KV_NO_SPACE.
  Result<uint32_t> begin(const ObjectId& id, std::string_view key, uint64_t payloadLength, uint32_t payloadCrc,
                         const Retention& retention);
  /// The payload is on the device.
  void written(uint32_t slot);
  /// The payload is not, and nobody writes it any more.
  void abandon(uint32_t slot);

  /// The readable object in this slot if it is exactly this one.
  [[nodiscard]] const Slot* find(const ExtentRef& extent, const ObjectId& id) const;
  /// The slot of an object in any state but Free and Clearing.
  [[nodiscard]] std::optional<uint32_t> slotOf(const ObjectId& id) const;
  /// Nobody reads it from now on; Changes::freed says when the device knows it too. False when it is not this one.
  bool free(const ExtentRef& extent, const ObjectId& id);
  /// The same of an object that may be on its way: it is never readable. Answers whether something has to be cleared.
  bool freeAnyState(uint32_t slot);

  /// The header is to say that objects with a lower id are dead. They stay readable here until they are freed.
  void purge(const ObjectId& below) { purgeId_ = std::max(purgeId_, below); }
  /// What the header on the device says: a start finds nothing below it.
  [[nodiscard]] ObjectId purged() const { return purgeIdOf(header_); }

  /// Something has to be written, and nothing is being written.
  [[nodiscard]] bool isDirty() const { return (!dirty_.empty() || purgeId_ > purged()) && !storing_; }
  /// At most this many blocks. Until stored() no other batch is given.
  Batch takeDirty(size_t blocksMax);
  Changes stored(const Batch& batch);

  void pin(uint64_t generation) { pins_.pin(generation); }
  void unpin(uint64_t generation);

  [[nodiscard]] const Slot& slot(uint32_t number) const { return slots_[number]; }
  /// Whether the device still shows an object that is freed here, so that a start might find it again.
  [[nodiscard]] bool isClearing() const { return !clearing_.empty(); }
  [[nodiscard]] uint32_t slotsTouched() const { return static_cast<uint32_t>(slots_.size()); }
  [[nodiscard]] uint64_t objects() const { return objects_; }
  [[nodiscard]] uint64_t usedBytes() const { return allocator_.usedBytes(); }
  [[nodiscard]] ObjectId highestObject() const { return highestObject_; }
  [[nodiscard]] const TierGeometry& geometry() const { return geometry_; }
  [[nodiscard]] uint32_t number() const { return header_.number; }

 private:
  struct IdHash {
    size_t operator()(const ObjectId& id) const { return static_cast<size_t>(idHash(id)); }
  };
  void dirty(uint32_t slot) { dirty_.insert(slot / kRecordsPerBlock); }
  void clear(uint32_t slot);
  void awaitClearing(uint32_t slot);
  void release(uint32_t slot);
  void encode(uint32_t slot, std::span<uint8_t> bytes) const;
  std::vector<uint32_t> dropOverlapping();

  TierHeader header_;
  TierGeometry geometry_;
  ObjectId purgeId_;
  store::Allocator allocator_;
  store::Pins pins_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> freeSlots_;                      // of slots_; others beyond slots_.size() are free too
  std::unordered_map<ObjectId, uint32_t, IdHash> byId_;  // Writing, Storing, Readable
  std::set<uint32_t> dirty_;                             // blocks
  std::set<uint32_t> clearing_;  // slots: Clearing, or Storing and freed; if a start may find them
  bool storing_ = false;
  uint64_t objects_ = 0;  // readable
  ObjectId highestObject_;
  uint64_t generation_ = 1;
  uint32_t looked_ = 0;  // records that recover() has seen
  TierRecovery recovery_;
};

}  // namespace kvpool::ssd
