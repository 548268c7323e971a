// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/retention.h"
#include "store/allocator.h"
#include "store/layout.h"

namespace kvpool::store {

/// What a slot holds, as kept in memory; the record in the file says the same.
struct Slot {
  SlotState state = SlotState::Free;
  bool verified = true;  // false: restored; the payload was not compared with its checksum in this life
  uint32_t keyLength = 0;
  uint32_t keyCrc = 0;
  uint32_t payloadCrc = 0;
  uint64_t generation = 0;
  ObjectId objectId;
  Range extent;
  uint64_t payloadLength = 0;
  Retention retention;

  [[nodiscard]] uint64_t payloadOffset() const { return extent.offset + payloadDistance(keyLength); }
};

/// What a restart found.
struct Recovery {
  uint64_t restored = 0;      // committed objects, all as they were
  uint64_t tombstones = 0;    // all as they were
  uint64_t restoredHash = 0;  // order-free hash of their ids, as Directory::idsHash
  uint64_t purged = 0;        // below the purge id, freed now
  uint64_t unfinished = 0;    // reserved by a writer that never committed; normal
  uint64_t torn = 0;          // records with a wrong checksum
  uint64_t invalid = 0;       // out of range, wrong key, or the same object twice
  uint64_t overlapping = 0;
  uint64_t above = 0;  // of an epoch after the one the segment obeys: no leader the node knew has granted them
  [[nodiscard]] uint64_t dropped() const { return torn + invalid + overlapping + above; }
};

/// What the records of a segment were found to be.
struct Survey {
  std::vector<Slot> slots;        // up to the last one in use
  std::vector<uint32_t> whole;    // numbers of slots
  std::vector<uint32_t> dropped;  // their records in the file are not free yet
  Recovery counts;
};

/// In how many threads the records of a segment are read: more than one only where that pays, at most 8.
unsigned recoveryThreads(unsigned processors, uint32_t slots);

/// Reads the records of a segment that is opened: every one is checked, what is not whole is dropped and counted, never
/// guessed.
class RecordReader {
 public:
  RecordReader(std::span<const uint8_t> file, const Geometry& geometry, const RecordSeal& seal,
               uint64_t generationHighWater)
      : file_(file), geometry_(geometry), seal_(seal), generationHighWater_(generationHighWater) {}

  [[nodiscard]] Survey run(unsigned threads) const;

 private:
  enum class Finding { Free, Unfinished, Torn, Invalid, Whole };

  [[nodiscard]] uint32_t endOfUsed(uint32_t begin, uint32_t end) const;
  [[nodiscard]] Survey survey(std::span<Slot> found, uint32_t begin, uint32_t end) const;
  Finding inspect(uint32_t number, Slot* out) const;

  std::span<const uint8_t> file_;
  const Geometry& geometry_;
  const RecordSeal seal_;
  const uint64_t generationHighWater_;
};

}  // namespace kvpool::store
