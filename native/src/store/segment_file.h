// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "store/mapping.h"
#include "store/memory_kind.h"
#include "store/numa.h"
#include "store/segment_header.h"

namespace kvpool::store {

inline constexpr const char* kSegmentFileName = "segment-0.kvs";

/// A segment that is open for one node: locked, fully allocated, mapped, with a header that fits.
struct SegmentFile {
  Fd lock;      // the file itself; holds the flock
  Fd readOnly;  // another open file of it, to be given to clients: it cannot be mapped for writing
  Mapping mapping;
  Geometry geometry;
  uint64_t offset = 0;  // of its first byte in the file
  Memory memory;
  bool created = false;
  uint16_t replacedLayout = 0;        // of the emptied segment in whose place this one was made; 0: none
  std::vector<std::string> warnings;  // what people should know: set aside, other size than asked for

  /// Gives the memory back; what it was can still be told.
  void release() {
    mapping = Mapping();
    lock.reset();
    readOnly.reset();
  }
};

/// Opens DIR/segment-0.kvs, or makes it. A damaged or foreign file is renamed to
/// segment-0.kvs.set-aside-REASON-TIMESTAMP (UTC, given by the caller) and a new one made; one in another layout that
/// says that it was emptied is made anew in its place. KV_SEGMENT_IN_USE, KV_SEGMENT_LAYOUT, KV_IO (with what to do
/// when the file system is full). On hugetlbfs the size is rounded up to whole pages. `numa` is for a new file; the
/// pages of an old one stay where they are. What a power cut may have set back, by `boot` of the machine and as far as
/// it lies on a disk, counts as lost: a new segment is made in its place.
Result<SegmentFile> openSegment(const std::string& directory, const SegmentIdentity& identity, uint64_t segmentBytes,
                                const std::string& timestamp, uint64_t boot, StoreGate& gate,
                                const NumaPlacement& numa = {});

/// A segment in anonymous memory, for a transient node.
Result<SegmentFile> anonymousSegment(const SegmentIdentity& identity, uint64_t segmentBytes, StoreGate& gate,
                                     const NumaPlacement& numa = {});

/// Where a segment of memory that somebody else made begins.
struct LentMemory {
  std::string path;
  uint64_t offset = 0;
};

/// A segment in a part of an existing file on tmpfs or hugetlbfs, for a transient node: what was there is lost.
/// KV_SEGMENT_IN_USE when another node has it, KV_INVALID_ARGUMENT when it is no such file, or no such part of one.
Result<SegmentFile> lentSegment(const LentMemory& lent, const SegmentIdentity& identity, uint64_t segmentBytes,
                                StoreGate& gate);

}  // namespace kvpool::store
