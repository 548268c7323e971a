// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/status.h"
#include "store/layout.h"
#include "store/store_gate.h"
#include "wire/protocol.h"

namespace kvpool::store {

/// What the build that opens a segment understands. A new segment is made with the lowest of both, which fits every
/// pool that this build may join: what its pool is beyond that a leader will say.
struct BuildVersions {
  wire::VersionRange wire = wire::kWireVersions;
  wire::VersionRange layout = wire::kLayoutVersions;
};

/// Whose segment it is, and for whom it must be readable.
struct SegmentIdentity {
  PoolId poolId;
  std::string nodeId;  // at most kNodeIdBytesMax bytes
  uint32_t segment = 0;
  BuildVersions build = {};
};

enum class HeaderVerdict {
  Fits,
  Damaged,      // no segment, cut off, or with a wrong checksum
  Foreign,      // of another pool, node or segment number
  OtherLayout,  // written in a layout this build does not know
};

struct HeaderCheck {
  HeaderVerdict verdict = HeaderVerdict::Damaged;
  std::string why;      // a sentence unless it fits
  Geometry geometry;    // when it fits
  uint16_t layout = 0;  // that it is written in, when that is OtherLayout and known
};

/// Judges the header and the state copies of a whole file, trusting nothing in it.
HeaderCheck checkHeader(std::span<const uint8_t> file, const SegmentIdentity& expected);

/// Makes a file of geometry.fileBytes with an empty directory a segment. The header comes last: without it the file is
/// Damaged. `exposure`: of what else is in it.
void formatSegment(std::span<uint8_t> file, const Geometry& geometry, const SegmentIdentity& identity, StoreGate& gate,
                   uint32_t exposure = 0);

/// The newest intact copy of the state in a whole file, also while its node is storing the other one.
std::optional<SegmentState> newestState(std::span<const uint8_t> file);

/// Whether the segment says of itself that no object is in it, in whatever layout. Both copies of the state must be
/// intact and say so: where one is damaged, the other may be from before the mark was taken back.
bool saysEmptied(std::span<const uint8_t> file);

/// Makes an emptied segment in another layout, whose header passed otherwise, one of this build in its place. What is
/// no matter of layouts is kept: authority, purge id, leases, generations, which tier is believed. Until the last store
/// it stays an emptied segment in the other layout. KV_IO when the disk does not take it.
Status renewSegment(std::span<uint8_t> file, const SegmentIdentity& identity, StoreGate& gate);

/// Whether a power cut may have set back what lies on a disk: the latest life ran under another boot of the machine, or
/// on another one, and did not end in order. Pages are written back in any order, so records of what was removed may be
/// whole, and tombstones, epochs and the purge id missing.
/// `boot` is not 0, which says that no life has begun yet.
bool maySetBack(const SegmentState& state, uint64_t boot);

/// Makes such a segment a new one, in its place: what it held counts as lost with all that it knew. Until the last
/// store it stays one that may be set back. KV_IO when the disk does not take it.
Status formatAgain(std::span<uint8_t> file, const SegmentIdentity& identity, StoreGate& gate);

/// The state pages: always one intact copy, whatever store is cut.
class StatePages {
 public:
  /// Reads the newest intact copy. The file must have passed checkHeader.
  StatePages(std::span<uint8_t> file, StoreGate& gate);

  /// No object is in the segment: from now on the file says so, whatever else of the state is changed.
  void sayEmptied();
  /// One may come: the file says so no more, on the disk too when this returns OK. Cheap when it does not say so.
  Status takeBackEmptied() { return emptied_ || unsettled_ ? takeBack() : Status(); }

  /// A life begins under this boot: no end in order is said any more, on the disk too when this returns OK. Before
  /// anything else is stored.
  Status beginLife(uint64_t boot);
  /// The life has ended in order, all it stored is on the disk, and nothing is stored after this.
  Status saySettled();

  [[nodiscard]] const SegmentState& get() const { return state_; }
  [[nodiscard]] bool was(uint32_t exposure) const { return (state_.exposure & exposure) != 0; }
  /// Before it is so, and on the disk where there is one; cheap when it was before.
  void note(uint32_t exposure);
  [[nodiscard]] wire::ActiveVersions active() const { return {state_.activeWire, state_.activeLayout}; }

  /// Stores a changed state over the older copy; returns when it is in the file.
  template <typename Change>
  void update(Change change) {
    SegmentState next = state_;
    change(next);
    store(next);
  }
  /// The same of both copies, so that what was there before is in neither.
  template <typename Change>
  void updateBoth(Change change) {
    update(change);
    update(change);
  }

 private:
  void store(SegmentState next);
  Status takeBack();
  /// Returns when both copies are on the disk; `otherwise` says what has failed.
  [[nodiscard]] Status settle(const char* otherwise) const;

  std::span<uint8_t> file_;
  StoreGate& gate_;
  SegmentState state_{};
  bool emptied_ = false;    // the file says so
  bool unsettled_ = false;  // it was taken back, and that may not have reached the disk
};

}  // namespace kvpool::store
