// SPDX-License-Identifier: Apache-2.0
#include "ssd/layout.h"

#include <cstring>

#include "base/checked.h"
#include "base/crc32c.h"
#include "base/utf8.h"

namespace kvpool::ssd {
namespace {

bool allZero(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

uint32_t crcOf(const TierRecord& record) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  return crc32c(bytes + sizeof record.crc, sizeof record - sizeof record.crc);
}

uint32_t crcOf(const TierHeader& header) {
  return crc32c(&header, offsetof(TierHeader, crc));
}

bool isIntact(const TierHeader& header, uint64_t offset) {
  return header.crc == crcOf(header) && header.headerBytes == sizeof header &&
         header.recordBytes == sizeof(TierRecord) && header.nodeIdLength <= store::kNodeIdBytesMax &&
         header.sealing <= static_cast<uint32_t>(Sealing::Aes256Xts) && header.number != 0 &&
         headerOffset(header) == offset && planTier(header.tierBytes) == geometryOf(header);
}

bool isPossible(const TierRecord& record, const TierGeometry& geometry) {
  const uint64_t dataEnd = geometry.dataOffset + geometry.dataBytes;
  return record.keyLength > 0 && record.keyLength <= kTierKeyBytesMax && record.pins <= kPinsKnown &&
         record.payloadLength <= std::min(geometry.dataBytes, kTierPayloadBytesMax) &&
         record.extentBytes == tierExtentBytes(record.payloadLength) && record.offset % kBlockBytes == 0 &&
         rangeInside(record.offset, record.extentBytes, geometry.dataOffset, dataEnd) &&
         isUtf8({record.key.data(), record.keyLength});
}

void seal(std::span<uint8_t> bytes, TierRecord& record) {
  record.crc = crcOf(record);
  std::memcpy(bytes.data(), &record, sizeof record);
}

}  // namespace

Finding decodeRecord(std::span<const uint8_t> bytes, uint32_t slot, uint32_t tier, const TierGeometry& geometry,
                     Described* out) {
  *out = {};
  TierRecord record;
  std::memcpy(&record, bytes.data(), sizeof record);
  if (allZero(bytes.first(sizeof record))) return Finding::Free;
  if (record.crc != crcOf(record)) return Finding::Torn;
  if (record.slot != slot || record.tier != tier) return Finding::Foreign;
  // Counted up from 1, so a larger one is a lie that would make the counter begin anew.
  if (record.generation == 0 || record.generation > kGenerationMax) return Finding::Invalid;
  out->generation = record.generation;
  if (record.state == static_cast<uint32_t>(RecordState::Free)) return Finding::Free;
  if (record.state != static_cast<uint32_t>(RecordState::Committed) || !isPossible(record, geometry)) {
    return Finding::Invalid;
  }
  out->objectId = {record.objectEpoch, record.objectCounter};
  out->key.assign(record.key.data(), record.keyLength);
  out->extent = {record.offset, record.extentBytes};
  out->payloadLength = record.payloadLength;
  out->payloadCrc = record.payloadCrc;
  out->retention = {static_cast<uint8_t>(record.pins), record.softPinMs, record.group};
  return Finding::Whole;
}

void encodeRecord(std::span<uint8_t> bytes, uint32_t slot, uint32_t tier, const Described& object) {
  TierRecord record{};
  record.state = static_cast<uint32_t>(RecordState::Committed);
  record.generation = object.generation;
  record.objectEpoch = object.objectId.epoch;
  record.objectCounter = object.objectId.counter;
  record.offset = object.extent.offset;
  record.extentBytes = object.extent.length;
  record.payloadLength = object.payloadLength;
  record.group = object.retention.group;
  record.softPinMs = object.retention.softPinMs;
  record.pins = object.retention.pins;
  record.payloadCrc = object.payloadCrc;
  record.keyLength = static_cast<uint32_t>(object.key.size());
  record.slot = slot;
  record.tier = tier;
  std::memcpy(record.key.data(), object.key.data(), object.key.size());
  seal(bytes, record);
}

void encodeFree(std::span<uint8_t> bytes, uint32_t slot, uint32_t tier, uint64_t generation) {
  TierRecord record{};
  record.generation = generation;
  record.slot = slot;
  record.tier = tier;
  seal(bytes, record);
}

TierCheck checkTier(std::span<const uint8_t> blocks, uint64_t tierBytes, const store::SegmentIdentity& expected) {
  TierCheck check;
  if (allZero(blocks)) {
    check.verdict = TierVerdict::Empty;
    return check;
  }
  check.why = "its header is damaged";
  for (const uint64_t offset : {uint64_t{0}, kBlockBytes}) {
    TierHeader header;
    std::memcpy(&header, blocks.data() + offset, sizeof header);
    if (header.magic != kTierMagic) {
      if (allZero(blocks.subspan(offset, kBlockBytes))) continue;
      // No write of ours that was cut leaves such a block, but another label of the device does: it may be in use.
      check.why = "it does not begin like an SSD tier of kvpool";
      return check;
    }
    if (header.version > kTierVersion) {
      check.verdict = TierVerdict::Newer;
      check.why = "it has version " + std::to_string(header.version) + ", and this build reads versions up to " +
                  std::to_string(kTierVersion);
      return check;
    }
    if (isIntact(header, offset) && header.sequence > check.header.sequence) check.header = header;
  }
  const TierHeader& header = check.header;
  if (header.sequence == 0) return check;
  if (header.tierBytes > tierBytes) {
    check.why = "it was cut short: " + std::to_string(tierBytes) + " of " + std::to_string(header.tierBytes) + " bytes";
    return check;
  }
  const PoolId pool{header.poolHigh, header.poolLow};
  const std::string_view node(header.nodeId.data(), header.nodeIdLength);
  const bool ours = pool == expected.poolId && node == expected.nodeId;
  check.verdict = ours ? TierVerdict::Fits : TierVerdict::Foreign;
  check.why = ours ? "" : "it belongs to node " + std::string(node) + " of pool " + toString(pool);
  return check;
}

TierHeader newHeader(const TierGeometry& geometry, const store::SegmentIdentity& identity, uint32_t number) {
  TierHeader header{};
  header.magic = kTierMagic;
  header.version = kTierVersion;
  header.headerBytes = sizeof header;
  header.tierBytes = geometry.tierBytes;
  header.dataOffset = geometry.dataOffset;
  header.dataBytes = geometry.dataBytes;
  header.poolHigh = identity.poolId.high;
  header.poolLow = identity.poolId.low;
  header.slots = geometry.slots;
  header.recordBytes = sizeof(TierRecord);
  header.number = number;
  header.nodeIdLength = static_cast<uint32_t>(identity.nodeId.size());
  std::memcpy(header.nodeId.data(), identity.nodeId.data(), identity.nodeId.size());
  return header;
}

namespace {

/// A secret that is copied into the header of another tier does not open there.
std::string ownerOf(const TierHeader& header) {
  return toString(PoolId{header.poolHigh, header.poolLow}) + "/" +
         std::string(header.nodeId.data(), header.nodeIdLength);
}

}  // namespace

Status sealHeader(TierHeader& header, const SealKey& key) {
  const Result<TierSecret> secret = randomSecret();
  if (!secret.ok()) return secret.status();
  const Result<WrappedSecret> wrapped = wrap(secret.value(), key, ownerOf(header));
  if (!wrapped.ok()) return wrapped.status();
  header.sealing = static_cast<uint32_t>(Sealing::Aes256Xts);
  header.secret = wrapped.value();
  return {};
}

std::optional<TierSecret> secretOf(const TierHeader& header, const SealKey& key) {
  if (header.sealing == static_cast<uint32_t>(Sealing::None)) return std::nullopt;
  return unwrap(header.secret, key, ownerOf(header));
}

TierHeader nextHeader(TierHeader header, const ObjectId& purgeId) {
  ++header.sequence;
  header.purgeEpoch = purgeId.epoch;
  header.purgeCounter = purgeId.counter;
  header.crc = crcOf(header);
  return header;
}

void encodeHeader(std::span<uint8_t> block, const TierHeader& header) {
  std::fill(block.begin(), block.end(), uint8_t{0});
  std::memcpy(block.data(), &header, sizeof header);
}

}  // namespace kvpool::ssd
