// SPDX-License-Identifier: Apache-2.0
// Layouts 1 and 2 of a segment file. Little endian, every struct trivially copyable and free of implicit padding.
//
//   0                page: SegmentHeader, written once
//   4096, 8192       pages: two SegmentState, stored in turn, the intact one with the higher sequence counts
//   12288            directory: DirectoryRecord of 128 bytes for each slot
//   dataOffset       data: extents at multiples of 64; an extent is the key, zero to 63 bytes of padding, the payload,
//                    padding to 4, and the payload's sums (base/block_sums.h). That of a tombstone is the key alone
//
// The state says in which layout the file is written. Layout 2 differs in what a record's checksum starts with
// (RecordSeal). To go from 1 to 2 is one store of the state, since records that are older stay as they are.
//
// The node writes it; clients on the same machine map it read-only and read records and payloads (shm transport).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "base/block_sums.h"
#include "base/checked.h"
#include "base/crc32c.h"
#include "kvpool/kvpool.h"

namespace kvpool::store {

inline constexpr uint64_t kSegmentMagic = 0x3147455350564BULL;  // the bytes KVPSEG1 and 0
inline constexpr uint32_t kHeaderVersion = 1;                   // of the header and the state, alike in both layouts
inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kExtentAlignment = 64;
inline constexpr uint64_t kSegmentBytesMin = KV_SEGMENT_BYTES_MIN;
inline constexpr uint64_t kSegmentBytesMax = KV_SEGMENT_BYTES_MAX;
inline constexpr uint64_t kBytesPerSlot = 4096;
inline constexpr uint32_t kSlotsMin = 1024;
inline constexpr uint64_t kStateOffset = kPageBytes;
inline constexpr uint64_t kDirectoryOffset = 3 * kPageBytes;
inline constexpr size_t kNodeIdBytesMax = 253;

/// Written when the file is made and never again. crc covers all bytes before it.
struct SegmentHeader {
  uint64_t magic;
  uint32_t headerVersion;
  uint32_t headerBytes;  // sizeof(SegmentHeader)
  uint64_t fileBytes;
  uint64_t directoryOffset;
  uint64_t dataOffset;
  uint64_t dataBytes;
  uint32_t slots;
  uint32_t recordBytes;  // sizeof(DirectoryRecord)
  uint64_t poolHigh;
  uint64_t poolLow;
  uint32_t segment;
  uint32_t nodeIdLength;
  std::array<char, 256> nodeId;
  uint32_t reserved;
  uint32_t crc;
};
static_assert(sizeof(SegmentHeader) == 344 && offsetof(SegmentHeader, crc) == 340);
static_assert(std::is_trivially_copyable_v<SegmentHeader>);

/// What the node must remember besides its records.
struct SegmentState {
  uint64_t sequence;  // of this copy; the intact copy with the higher one counts
  uint64_t epoch;     // highest authority obeyed
  uint64_t nonce;
  uint64_t purgeEpoch;  // objects with a lower id are gone
  uint64_t purgeCounter;
  uint64_t objectLeaseMaxMs;     // largest object lease any epoch used
  uint64_t generationHighWater;  // every generation in use is below it
  uint64_t incarnation;          // of the latest life that used the file
  uint64_t layoutSince;          // records of this generation and later ones are in activeLayout, earlier ones in 1
  uint64_t memory;               // incarnation of the first life: another file, or this one emptied, has another number
  uint64_t boot;                 // of the machine that the latest life ran under; 0: none yet
  uint16_t activeWire;           // versions that the pool speaks and writes; see wire::ActiveVersions
  uint16_t activeLayout;
  uint32_t tier;      // number of the SSD tier that life had, 0: none; another one is not believed
  uint32_t emptied;   // emptiedMark() of that life: it says that no object is in the segment, nor in the tier
  uint32_t settled;   // settledMark() of that life: it ended in order, and all it stored is on the disk
  uint32_t exposure;  // bits kShown and kHeldTenants
  uint32_t crc;
};
static_assert(sizeof(SegmentState) == 112 && offsetof(SegmentState, crc) == 108);
static_assert(std::is_trivially_copyable_v<SegmentState>);

/// Names the life that says so, because a build that does not know of the mark carries it on unread, while it puts
/// objects there: but each life stores its own incarnation first. Never 0, which is what such builds write.
inline uint32_t emptiedMark(uint64_t incarnation) {
  return crc32c(&incarnation, sizeof incarnation, 0x454D5054) | 1U;
}

/// Names the life that ended in order, for the same reason.
inline uint32_t settledMark(uint64_t incarnation) {
  return crc32c(&incarnation, sizeof incarnation, 0x53455454) | 1U;
}

/// A client has the file in shared memory for as long as it likes, also beyond the life that showed it; not beyond this
/// boot of the machine.
inline constexpr uint32_t kShown = 1;
/// Objects of other tenants than `default` were here. Their bytes stay in the file when they are gone.
inline constexpr uint32_t kHeldTenants = 2;

/// Tombstone: objects of the key up to this object id are removed, wherever they turn up.
enum class SlotState : uint8_t { Free = 0, Reserved = 1, Committed = 2, Tombstone = 3 };

/// One slot of the directory. crc covers all bytes after it. All zero means free and never used.
struct DirectoryRecord {
  uint32_t crc;
  uint32_t state;  // SlotState
  uint64_t generation;
  uint64_t objectEpoch;
  uint64_t objectCounter;
  uint64_t offset;       // of the extent in the file
  uint64_t extentBytes;  // key, padding, payload, sums, rounded up to kExtentAlignment
  uint64_t payloadLength;
  uint32_t keyLength;
  uint32_t keyCrc;
  uint32_t payloadCrc;  // valid when Committed
  uint32_t slot;        // its own number: a record copied elsewhere is not intact there
  uint32_t pins;        // kPin* bits of base/retention.h
  uint32_t softPinMs;
  uint64_t group;
  std::array<uint8_t, 40> reserved;
};
static_assert(sizeof(DirectoryRecord) == 128 && offsetof(DirectoryRecord, group) == 80);
static_assert(std::is_trivially_copyable_v<DirectoryRecord>);

/// Where things lie in a file of a given size.
struct Geometry {
  uint64_t fileBytes = 0;
  uint64_t dataOffset = 0;
  uint64_t dataBytes = 0;
  uint32_t slots = 0;
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// One slot for each 4 KiB of data, at least kSlotsMin. Nothing for sizes out of range.
constexpr std::optional<Geometry> planGeometry(uint64_t fileBytes) {
  if (fileBytes < kSegmentBytesMin || fileBytes > kSegmentBytesMax) return std::nullopt;
  const uint64_t bySize = (fileBytes - kDirectoryOffset) / (kBytesPerSlot + sizeof(DirectoryRecord));
  const uint64_t slots = bySize < kSlotsMin ? kSlotsMin : (bySize > UINT32_MAX - 1 ? UINT32_MAX - 1 : bySize);
  const uint64_t directoryEnd = kDirectoryOffset + slots * sizeof(DirectoryRecord);
  const uint64_t dataOffset = (directoryEnd + kPageBytes - 1) & ~(kPageBytes - 1);
  return Geometry{fileBytes, dataOffset, (fileBytes - dataOffset) & ~(kExtentAlignment - 1),
                  static_cast<uint32_t>(slots)};
}

/// Distance of the payload from the start of its extent.
constexpr uint64_t payloadDistance(uint32_t keyLength) {
  return (uint64_t{keyLength} + kExtentAlignment - 1) & ~(kExtentAlignment - 1);
}

/// Bytes to allocate; nothing when the sum does not fit into 64 bits.
inline std::optional<uint64_t> extentBytesFor(uint32_t keyLength, uint64_t payloadLength) {
  const std::optional<uint64_t> summed = summedBytes(payloadLength);
  const std::optional<uint64_t> payload = summed ? checkedAlignUp(*summed, kExtentAlignment) : std::nullopt;
  return payload ? checkedAdd(payloadDistance(keyLength), *payload) : std::nullopt;
}

/// What the checksum of a record starts with. In layout 1: nothing. In layout 2: the checksum of the file's header,
/// which names pool, node and segment, so that a record of another segment is not intact here, not even at its own
/// slot: disks show old blocks after a power failure, and files are copied.
struct RecordSeal {
  uint32_t start = 0;
  uint64_t since = UINT64_MAX;  // generation from which on records have it
  friend bool operator==(const RecordSeal&, const RecordSeal&) = default;
};

inline RecordSeal sealOf(const SegmentHeader& header, const SegmentState& state) {
  return state.activeLayout < 2 ? RecordSeal{} : RecordSeal{header.crc, state.layoutSince};
}

inline uint32_t recordCrc(const DirectoryRecord& record, const RecordSeal& seal = {}) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  const uint32_t start = record.generation >= seal.since ? seal.start : 0;
  return crc32c(bytes + sizeof record.crc, sizeof record - sizeof record.crc, start);
}

constexpr uint64_t recordOffset(uint32_t slot) {
  return kDirectoryOffset + uint64_t{slot} * sizeof(DirectoryRecord);
}

/// A copy of the record of `slot` if it is whole: not in the middle of being stored, and at its place. The caller has
/// checked that the slot lies in the file. Fences on both sides order it against reads of the payload around it.
inline std::optional<DirectoryRecord> readIntactRecord(const uint8_t* file, uint32_t slot,
                                                       const RecordSeal& seal = {}) {
  std::atomic_thread_fence(std::memory_order_acquire);
  DirectoryRecord record;
  std::memcpy(&record, file + recordOffset(slot), sizeof record);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (record.slot != slot || record.crc != recordCrc(record, seal)) return std::nullopt;
  return record;
}

}  // namespace kvpool::store
