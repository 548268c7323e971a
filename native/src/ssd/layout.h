// SPDX-License-Identifier: Apache-2.0
// Layout version 1 of an SSD tier, a file or a block device. Little endian, every struct trivially copyable and free of
// implicit padding.
//
//   0            two blocks: TierHeader in each, of which the newer one counts
//   8192         table: TierRecord of 512 bytes for each slot, so that none lies across two sectors
//   dataOffset   data: payloads at multiples of 4096, as O_DIRECT wants them
//
// Keys lie in the table and not beside the payload, as in a segment: a start reads the table from end to end and
// nothing else.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "base/ids.h"
#include "base/retention.h"
#include "base/status.h"
#include "ssd/sealing.h"
#include "store/allocator.h"
#include "store/segment_header.h"

namespace kvpool::ssd {

inline constexpr uint64_t kTierMagic = 0x3144535350564BULL;  // the bytes KVPSSD1 and 0
inline constexpr uint32_t kTierVersion = 1;
/// Alignment of everything that is read or written: memory, place and length. A multiple of any device's sector.
inline constexpr uint64_t kBlockBytes = 4096;
inline constexpr uint64_t kTierBytesMin = uint64_t{16} << 20;
/// Masters keep 45 bits of an offset.
inline constexpr uint64_t kTierBytesMax = KV_SEGMENT_BYTES_MAX;
inline constexpr uint64_t kTierBytesPerSlot = 65536;
inline constexpr uint32_t kTierSlotsMin = 256;
inline constexpr uint64_t kGenerationMax = UINT64_MAX / 2;
inline constexpr uint64_t kTableOffset = 2 * kBlockBytes;
inline constexpr size_t kTierKeyBytesMax = 424;
/// A payload is read whole into memory beside the segment, and only then sent. Masters know this number.
inline constexpr uint64_t kTierPayloadBytesMax = uint64_t{128} << 20;

/// How all behind the headers is encrypted.
enum class Sealing : uint32_t { None = 0, Aes256Xts = 1 };

/// A new one is written over the older of the two, so that one of them is intact whatever write is cut. crc covers all
/// bytes before it.
struct TierHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t headerBytes;  // sizeof(TierHeader)
  uint64_t tierBytes;
  uint64_t dataOffset;
  uint64_t dataBytes;
  uint64_t poolHigh;
  uint64_t poolLow;
  uint64_t sequence;  // the higher one counts; odd ones lie in block 1
  uint64_t purgeEpoch;
  uint64_t purgeCounter;  // records of objects with a lower id are dead, whatever they say
  uint32_t slots;
  uint32_t recordBytes;  // sizeof(TierRecord)
  uint32_t number;       // random, not 0: names this tier in the state of the segment beside it
  uint32_t nodeIdLength;
  std::array<char, 256> nodeId;
  uint32_t sealing;      // Sealing
  WrappedSecret secret;  // zeros without
  uint32_t reserved;
  uint32_t crc;
};
static_assert(sizeof(TierHeader) == 456 && offsetof(TierHeader, crc) == 452);
static_assert(std::is_trivially_copyable_v<TierHeader>);

enum class RecordState : uint32_t { Free = 0, Committed = 1 };

/// One slot of the table. crc covers all bytes after it. All zero means free and never used.
struct TierRecord {
  uint32_t crc;
  uint32_t state;  // RecordState
  uint64_t generation;
  uint64_t objectEpoch;
  uint64_t objectCounter;
  uint64_t offset;       // of the payload
  uint64_t extentBytes;  // tierExtentBytes(payloadLength)
  uint64_t payloadLength;
  uint64_t group;
  uint32_t softPinMs;
  uint32_t pins;
  uint32_t payloadCrc;
  uint32_t keyLength;
  uint32_t slot;  // its own number: a record that landed elsewhere is not intact there
  uint32_t tier;  // TierHeader::number: what an earlier tier left on the device is not this one's
  std::array<char, 424> key;
};
static_assert(sizeof(TierRecord) == 512);
static_assert(std::is_trivially_copyable_v<TierRecord>);
static_assert(kTierKeyBytesMax <= sizeof(TierRecord::key));

inline constexpr uint32_t kRecordsPerBlock = kBlockBytes / sizeof(TierRecord);

/// Where things lie in a tier of a given size.
struct TierGeometry {
  uint64_t tierBytes = 0;
  uint64_t dataOffset = 0;
  uint64_t dataBytes = 0;
  uint32_t slots = 0;
  friend bool operator==(const TierGeometry&, const TierGeometry&) = default;
};

/// One slot for each 64 KiB, at least kTierSlotsMin, a whole number of blocks. Nothing for sizes out of range.
constexpr std::optional<TierGeometry> planTier(uint64_t tierBytes) {
  if (tierBytes < kTierBytesMin || tierBytes > kTierBytesMax) return std::nullopt;
  const uint64_t bySize = std::max<uint64_t>(tierBytes / kTierBytesPerSlot, kTierSlotsMin);
  const uint64_t slots = bySize / kRecordsPerBlock * kRecordsPerBlock;
  const uint64_t dataOffset = kTableOffset + slots * sizeof(TierRecord);
  const uint64_t dataBytes = (tierBytes - dataOffset) / kBlockBytes * kBlockBytes;
  return TierGeometry{tierBytes, dataOffset, dataBytes, static_cast<uint32_t>(slots)};
}

/// What a payload takes: whole blocks, at least one.
constexpr uint64_t tierExtentBytes(uint64_t payloadLength) {
  return std::max(kBlockBytes, (payloadLength + kBlockBytes - 1) & ~(kBlockBytes - 1));
}

/// Where the block of the table lies that holds the record of a slot.
constexpr uint64_t blockOffset(uint32_t block) {
  return kTableOffset + uint64_t{block} * kBlockBytes;
}

/// What one record says of an object.
struct Described {
  ObjectId objectId;
  std::string key;
  uint64_t generation = 0;
  store::Range extent;
  uint64_t payloadLength = 0;
  uint32_t payloadCrc = 0;
  Retention retention;
};

enum class Finding {
  Free,     // with the generation it had last
  Whole,    // an object
  Torn,     // its checksum does not fit
  Foreign,  // whole, but written for another place or another tier
  Invalid,  // whole, but says what cannot be
};

/// Judges the 512 bytes of one slot, trusting nothing in them. `out` is complete when they are Whole, and has the
/// generation when they are Free.
Finding decodeRecord(std::span<const uint8_t> bytes, uint32_t slot, uint32_t tier, const TierGeometry& geometry,
                     Described* out);
/// Writes the record of an object to 512 bytes.
void encodeRecord(std::span<uint8_t> bytes, uint32_t slot, uint32_t tier, const Described& object);
/// The same of a slot that is free and whose last object had this generation.
void encodeFree(std::span<uint8_t> bytes, uint32_t slot, uint32_t tier, uint64_t generation);

enum class TierVerdict {
  Fits,
  Empty,    // never used by anybody: nothing but zeros
  Damaged,  // no tier, cut off, or with a wrong checksum
  Foreign,  // of another pool or node
  Newer,    // written by a later version
};

struct TierCheck {
  TierVerdict verdict = TierVerdict::Damaged;
  std::string why;      // a sentence unless it fits or is empty
  TierHeader header{};  // when it fits
};

/// Judges the blocks before the table, trusting nothing in them. `tierBytes` is what the file or device holds.
TierCheck checkTier(std::span<const uint8_t> blocks, uint64_t tierBytes, const store::SegmentIdentity& expected);
/// Of a tier that is empty, and not written yet.
TierHeader newHeader(const TierGeometry& geometry, const store::SegmentIdentity& identity, uint32_t number);
/// Gives it a secret of its own, which only `key` opens. KV_IO without random numbers.
Status sealHeader(TierHeader& header, const SealKey& key);
/// Its secret, if it has one and this is the key.
std::optional<TierSecret> secretOf(const TierHeader& header, const SealKey& key);
/// What a header becomes that names this purge id; it goes over the older copy.
TierHeader nextHeader(TierHeader header, const ObjectId& purgeId);
/// The block of a header, which lies at headerOffset().
void encodeHeader(std::span<uint8_t> block, const TierHeader& header);
constexpr uint64_t headerOffset(const TierHeader& header) {
  return header.sequence % 2 * kBlockBytes;
}
constexpr TierGeometry geometryOf(const TierHeader& header) {
  return {header.tierBytes, header.dataOffset, header.dataBytes, header.slots};
}
constexpr ObjectId purgeIdOf(const TierHeader& header) {
  return {header.purgeEpoch, header.purgeCounter};
}

}  // namespace kvpool::ssd
