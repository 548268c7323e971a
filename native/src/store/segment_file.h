// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"
#include "store/segment_header.h"

namespace kvpool::store {

/// Memory mapped from a descriptor.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// Maps the first `length` bytes, for reading only or for reading and writing.
  static Result<Mapping> map(int fd, uint64_t length, bool writable);

  [[nodiscard]] std::span<uint8_t> bytes() const { return {data_, length_}; }

 private:
  Mapping(uint8_t* data, size_t length) : data_(data), length_(length) {}
  uint8_t* data_ = nullptr;
  size_t length_ = 0;
};

/// A segment that is open for one node: locked, fully allocated, mapped, with a header that fits.
struct SegmentFile {
  Fd lock;      // the file itself; holds the flock
  Fd readOnly;  // another open file of it, to be given to clients: it cannot be mapped for writing
  Mapping mapping;
  Geometry geometry;
  bool created = false;
  std::vector<std::string> warnings;  // what people should know: set aside, other size than asked for
};

/// Opens DIR/segment-0.kvs, or makes it. A damaged or foreign file is renamed to segment-0.kvs.set-aside-TIMESTAMP
/// (UTC, given by the caller) and a new one made. KV_SEGMENT_IN_USE, KV_SEGMENT_LAYOUT, KV_IO (with what to do when
/// the file system is full).
Result<SegmentFile> openSegment(const std::string& directory, const SegmentIdentity& identity, uint64_t segmentBytes,
                                const std::string& timestamp, StoreGate& gate);

/// A segment in anonymous memory, for a transient node.
Result<SegmentFile> anonymousSegment(const SegmentIdentity& identity, uint64_t segmentBytes, StoreGate& gate);

}  // namespace kvpool::store
