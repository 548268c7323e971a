// SPDX-License-Identifier: Apache-2.0
#include "store/segment_header.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace kvpool::store {
namespace {

uint32_t headerCrc(const SegmentHeader& header) {
  return crc32c(&header, offsetof(SegmentHeader, crc));
}

uint32_t stateCrc(const SegmentState& state) {
  return crc32c(&state, offsetof(SegmentState, crc));
}

constexpr uint64_t statePage(uint64_t sequence) {
  return kStateOffset + (sequence % 2) * kPageBytes;
}

HeaderCheck reject(HeaderVerdict verdict, std::string why) {
  return {verdict, std::move(why), {}};
}

std::string ownerText(const PoolId& pool, const std::string& node, uint32_t segment) {
  return "segment " + std::to_string(segment) + " of node " + node + " in pool " + toString(pool);
}

/// Every number must be what this layout makes of the file's size, so that nothing is left to check later.
bool numbersFit(const SegmentHeader& header, const Geometry& geometry) {
  return header.headerVersion == kHeaderVersion && header.headerBytes == sizeof(SegmentHeader) &&
         header.recordBytes == sizeof(DirectoryRecord) && header.directoryOffset == kDirectoryOffset &&
         header.fileBytes == geometry.fileBytes && header.dataOffset == geometry.dataOffset &&
         header.dataBytes == geometry.dataBytes && header.slots == geometry.slots &&
         header.nodeIdLength <= kNodeIdBytesMax;
}

/// The way out is the caller's to say.
std::string layoutUnknown(uint32_t layout, const wire::VersionRange& known) {
  return "the segment is written in layout " + std::to_string(layout) + ", this library knows " + wire::toString(known);
}

}  // namespace

std::optional<SegmentState> newestState(std::span<const uint8_t> file) {
  std::atomic_thread_fence(std::memory_order_acquire);
  std::optional<SegmentState> newest;
  for (const uint64_t copy : {uint64_t{0}, uint64_t{1}}) {
    SegmentState state;
    std::memcpy(&state, file.data() + statePage(copy), sizeof state);
    if (state.crc != stateCrc(state) || state.sequence % 2 != copy) continue;
    if (!newest || state.sequence > newest->sequence) newest = state;
  }
  return newest;
}

HeaderCheck checkHeader(std::span<const uint8_t> file, const SegmentIdentity& expected) {
  const std::optional<Geometry> geometry = planGeometry(file.size());
  if (!geometry) {
    return reject(HeaderVerdict::Damaged, "a file of " + std::to_string(file.size()) + " bytes is no segment");
  }
  SegmentHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kSegmentMagic) return reject(HeaderVerdict::Damaged, "the file does not begin as a segment");
  // Before the checksum: a later one may be elsewhere.
  if (header.headerVersion > kHeaderVersion) {
    return reject(HeaderVerdict::OtherLayout, "the segment has a header of version " +
                                                  std::to_string(header.headerVersion) + ", this library knows up to " +
                                                  std::to_string(kHeaderVersion));
  }
  if (header.crc != headerCrc(header)) return reject(HeaderVerdict::Damaged, "the header has a wrong checksum");
  if (!numbersFit(header, *geometry)) {
    return reject(HeaderVerdict::Damaged, "the header does not fit the file: it is " + std::to_string(file.size()) +
                                              " bytes long and was made with " + std::to_string(header.fileBytes));
  }
  const PoolId pool{header.poolHigh, header.poolLow};
  const std::string node(header.nodeId.data(), header.nodeIdLength);
  if (pool != expected.poolId || node != expected.nodeId || header.segment != expected.segment) {
    return reject(HeaderVerdict::Foreign, "it is " + ownerText(pool, node, header.segment) + ", this is " +
                                              ownerText(expected.poolId, expected.nodeId, expected.segment));
  }
  const std::optional<SegmentState> state = newestState(file);
  if (!state) return reject(HeaderVerdict::Damaged, "both copies of the state have wrong checksums");
  if (!wire::contains(expected.build.layout, state->activeLayout)) {
    return reject(HeaderVerdict::OtherLayout, layoutUnknown(state->activeLayout, expected.build.layout));
  }
  return {HeaderVerdict::Fits, {}, *geometry};
}

void formatSegment(std::span<uint8_t> file, const Geometry& geometry, const SegmentIdentity& identity,
                   StoreGate& gate) {
  if (identity.nodeId.size() > kNodeIdBytesMax) throw std::logic_error("node id too long for a segment header");
  SegmentState state{};
  state.sequence = 1;
  state.generationHighWater = 1;  // 0 is no generation
  state.layoutSince = 1;
  state.activeWire = identity.build.wire.min;
  state.activeLayout = identity.build.layout.min;
  state.crc = stateCrc(state);
  gate.store(file.data() + statePage(state.sequence), &state, sizeof state);

  SegmentHeader header{};
  header.magic = kSegmentMagic;
  header.headerVersion = kHeaderVersion;
  header.headerBytes = sizeof(SegmentHeader);
  header.fileBytes = geometry.fileBytes;
  header.directoryOffset = kDirectoryOffset;
  header.dataOffset = geometry.dataOffset;
  header.dataBytes = geometry.dataBytes;
  header.slots = geometry.slots;
  header.recordBytes = sizeof(DirectoryRecord);
  header.poolHigh = identity.poolId.high;
  header.poolLow = identity.poolId.low;
  header.segment = identity.segment;
  header.nodeIdLength = static_cast<uint32_t>(identity.nodeId.size());
  std::copy(identity.nodeId.begin(), identity.nodeId.end(), header.nodeId.begin());
  header.crc = headerCrc(header);
  gate.store(file.data(), &header, sizeof header);
}

StatePages::StatePages(std::span<uint8_t> file, StoreGate& gate) : file_(file), gate_(gate) {
  const std::optional<SegmentState> newest = newestState(file);
  if (!newest) throw std::logic_error("segment without an intact state");
  state_ = *newest;
}

void StatePages::store(SegmentState next) {
  next.sequence = state_.sequence + 1;
  next.crc = stateCrc(next);
  gate_.store(file_.data() + statePage(next.sequence), &next, sizeof next);
  state_ = next;
}

}  // namespace kvpool::store
