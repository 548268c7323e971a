// SPDX-License-Identifier: Apache-2.0
#include "store/segment_header.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "base/log.h"

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
  return {verdict, std::move(why), {}, 0};
}

std::string ownerText(const PoolId& pool, const std::string& node, uint32_t segment) {
  return "segment " + std::to_string(segment) + " of node " + node + " in pool " + toString(pool);
}

/// Every number must be what this layout makes of the file's size, so that nothing is left to check later.
bool numbersFit(const SegmentHeader& header, const Geometry& geometry) {
  return header.recordBytes == sizeof(DirectoryRecord) && header.directoryOffset == kDirectoryOffset &&
         header.fileBytes == geometry.fileBytes && header.dataOffset == geometry.dataOffset &&
         header.dataBytes == geometry.dataBytes && header.slots == geometry.slots;
}

SegmentHeader headerOf(const Geometry& geometry, const SegmentIdentity& identity) {
  if (identity.nodeId.size() > kNodeIdBytesMax) throw std::logic_error("node id too long for a segment header");
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
  return header;
}

void clearDirectory(std::span<uint8_t> file, const Geometry& geometry, StoreGate& gate) {
  static const std::array<uint8_t, size_t{1} << 20> zeros{};
  for (uint64_t at = kDirectoryOffset; at < geometry.dataOffset; at += zeros.size()) {
    gate.store(file.data() + at, zeros.data(), std::min<uint64_t>(zeros.size(), geometry.dataOffset - at));
  }
}

/// The way out is the caller's to say.
std::string layoutUnknown(uint32_t layout, const wire::VersionRange& known) {
  return "the segment is written in layout " + std::to_string(layout) + ", this library knows " + wire::toString(known);
}

/// One of the two copies of the state, if it is intact.
std::optional<SegmentState> stateCopy(std::span<const uint8_t> file, uint64_t copy) {
  std::atomic_thread_fence(std::memory_order_acquire);
  SegmentState state;
  std::memcpy(&state, file.data() + statePage(copy), sizeof state);
  if (state.crc != stateCrc(state) || state.sequence % 2 != copy) return std::nullopt;
  return state;
}

}  // namespace

std::optional<SegmentState> newestState(std::span<const uint8_t> file) {
  const std::optional<SegmentState> even = stateCopy(file, 0);
  const std::optional<SegmentState> odd = stateCopy(file, 1);
  if (!even || !odd) return even ? even : odd;
  return even->sequence > odd->sequence ? even : odd;
}

bool saysEmptied(std::span<const uint8_t> file) {
  const auto says = [](const std::optional<SegmentState>& state) {
    return state && state->emptied == emptiedMark(state->incarnation);
  };
  return says(stateCopy(file, 0)) && says(stateCopy(file, 1));
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
  if (header.headerVersion != kHeaderVersion || header.headerBytes != sizeof(SegmentHeader) ||
      header.nodeIdLength > kNodeIdBytesMax) {
    return reject(HeaderVerdict::Damaged, "the header contradicts itself");
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
    HeaderCheck other = reject(HeaderVerdict::OtherLayout, layoutUnknown(state->activeLayout, expected.build.layout));
    other.layout = state->activeLayout;
    return other;
  }
  // Only now: another layout may place things elsewhere.
  if (!numbersFit(header, *geometry)) {
    return reject(HeaderVerdict::Damaged, "the header does not fit the file: it is " + std::to_string(file.size()) +
                                              " bytes long and was made with " + std::to_string(header.fileBytes));
  }
  return {HeaderVerdict::Fits, {}, *geometry, 0};
}

void formatSegment(std::span<uint8_t> file, const Geometry& geometry, const SegmentIdentity& identity, StoreGate& gate,
                   uint32_t exposure) {
  const SegmentHeader header = headerOf(geometry, identity);
  SegmentState state{};
  state.generationHighWater = 1;  // 0 is no generation
  state.layoutSince = 1;
  state.activeWire = identity.build.wire.min;
  state.activeLayout = identity.build.layout.min;
  state.emptied = emptiedMark(state.incarnation);
  state.exposure = exposure;
  for (state.sequence = 1; state.sequence <= 2; ++state.sequence) {
    state.crc = stateCrc(state);
    gate.store(file.data() + statePage(state.sequence), &state, sizeof state);
  }
  gate.store(file.data(), &header, sizeof header);
}

bool maySetBack(const SegmentState& state, uint64_t boot) {
  // The boot is on the disk before anything else of a life is, even its incarnation.
  const bool used = state.boot != 0;
  return used && state.boot != boot && state.settled != settledMark(state.incarnation);
}

Status formatAgain(std::span<uint8_t> file, const SegmentIdentity& identity, StoreGate& gate) {
  const Geometry geometry = planGeometry(file.size()).value();
  clearDirectory(file, geometry, gate);
  if (!gate.settle(file.data(), geometry.dataOffset)) return systemError("cannot format the segment again", errno);
  const std::optional<SegmentState> latest = newestState(file);
  formatSegment(file, geometry, identity, gate, latest ? latest->exposure : 0);  // its bytes are what they were
  return {};
}

Status renewSegment(std::span<uint8_t> file, const SegmentIdentity& identity, StoreGate& gate) {
  const Geometry geometry = planGeometry(file.size()).value();
  clearDirectory(file, geometry, gate);
  const SegmentHeader header = headerOf(geometry, identity);
  if (std::memcmp(file.data(), &header, sizeof header) != 0) gate.store(file.data(), &header, sizeof header);
  if (!gate.settle(file.data(), geometry.dataOffset)) return systemError("cannot make an empty segment", errno);
  StatePages(file, gate).updateBoth([&](SegmentState& state) {
    const bool speaks = wire::contains(identity.build.wire, state.activeWire);
    state.activeWire = speaks ? state.activeWire : identity.build.wire.min;
    state.activeLayout = identity.build.layout.min;
    state.layoutSince = 1;
    state.memory = 0;
  });
  return {};
}

StatePages::StatePages(std::span<uint8_t> file, StoreGate& gate)
    : file_(file), gate_(gate), emptied_(saysEmptied(file)) {
  const std::optional<SegmentState> newest = newestState(file);
  if (!newest) throw std::logic_error("segment without an intact state");
  state_ = *newest;
}

void StatePages::sayEmptied() {
  if (emptied_) return;
  emptied_ = true;
  updateBoth([](SegmentState&) {});
}

Status StatePages::takeBack() {
  unsettled_ = true;
  emptied_ = false;
  if (state_.emptied != 0) store(state_);
  if (Status settled = settle("cannot write down that the segment is in use"); !settled.ok()) return settled;
  unsettled_ = false;
  return {};
}

Status StatePages::settle(const char* otherwise) const {
  const bool settled = gate_.settle(file_.data() + kStateOffset, kDirectoryOffset - kStateOffset);
  return settled ? Status() : systemError(otherwise, errno);
}

void StatePages::note(uint32_t exposure) {
  if (was(exposure)) return;
  updateBoth([&](SegmentState& state) { state.exposure |= exposure; });
  const Status settled = settle("cannot write down who may see the segment");
  if (!settled.ok()) log(LogLevel::Error, settled.text());
}

Status StatePages::beginLife(uint64_t boot) {
  updateBoth([&](SegmentState& state) {
    if (state.boot != boot) state.exposure &= ~kShown;
    state.boot = boot;
    state.settled = 0;
  });
  return settle("cannot write down that a life begins");
}

Status StatePages::saySettled() {
  update([](SegmentState& state) { state.settled = settledMark(state.incarnation); });
  return settle("cannot write down that the node ended in order");
}

void StatePages::store(SegmentState next) {
  next.sequence = state_.sequence + 1;
  next.emptied = emptied_ ? emptiedMark(next.incarnation) : 0;
  next.crc = stateCrc(next);
  gate_.store(file_.data() + statePage(next.sequence), &next, sizeof next);
  state_ = next;
}

}  // namespace kvpool::store
