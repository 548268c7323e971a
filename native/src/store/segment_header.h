// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "store/layout.h"
#include "store/store_gate.h"

namespace kvpool::store {

/// Whose segment it is.
struct SegmentIdentity {
  PoolId poolId;
  std::string nodeId;  // at most kNodeIdBytesMax bytes
  uint32_t segment = 0;
};

enum class HeaderVerdict {
  Fits,
  Damaged,      // no segment, cut off, or with a wrong checksum
  Foreign,      // of another pool, node or segment number
  NewerLayout,  // written by a later version
};

struct HeaderCheck {
  HeaderVerdict verdict = HeaderVerdict::Damaged;
  std::string why;    // a sentence unless it fits
  Geometry geometry;  // when it fits
};

/// Judges the header and the state copies of a whole file, trusting nothing in it.
HeaderCheck checkHeader(std::span<const uint8_t> file, const SegmentIdentity& expected);

/// Makes a zero-filled file of geometry.fileBytes a segment. The header comes last: without it the file is Damaged.
void formatSegment(std::span<uint8_t> file, const Geometry& geometry, const SegmentIdentity& identity, StoreGate& gate);

/// The state pages: always one intact copy, whatever store is cut.
class StatePages {
 public:
  /// Reads the newest intact copy. The file must have passed checkHeader.
  StatePages(std::span<uint8_t> file, StoreGate& gate);

  [[nodiscard]] const SegmentState& get() const { return state_; }

  /// Stores a changed state over the older copy; returns when it is in the file.
  template <typename Change>
  void update(Change change) {
    SegmentState next = state_;
    change(next);
    store(next);
  }

 private:
  void store(SegmentState next);

  std::span<uint8_t> file_;
  StoreGate& gate_;
  SegmentState state_{};
};

}  // namespace kvpool::store
