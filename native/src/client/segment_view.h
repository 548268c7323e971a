// SPDX-License-Identifier: Apache-2.0
// A segment file of a node on this machine, mapped read-only. Its bytes are another process's: every number is checked
// before it is used.
#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.h"
#include "base/ids.h"
#include "base/status.h"

namespace kvpool::client {

class SegmentView {
 public:
  /// Maps the file behind `descriptor`. KV_SEGMENT_LAYOUT and the like when it is not a segment this library can read.
  static Result<std::unique_ptr<SegmentView>> map(const Fd& descriptor, uint64_t fileBytes);
  ~SegmentView();
  SegmentView(const SegmentView&) = delete;
  SegmentView& operator=(const SegmentView&) = delete;

  /// Start of the payload when the directory names exactly this object there at this moment, else null. What is read
  /// from it counts only if a second look after the reading finds the same.
  [[nodiscard]] const uint8_t* find(const ExtentRef& extent, const ObjectId& object, uint64_t offset,
                                    uint64_t length) const;

 private:
  SegmentView(const uint8_t* bytes, uint64_t fileBytes, uint32_t slots)
      : bytes_(bytes), fileBytes_(fileBytes), slots_(slots) {}

  const uint8_t* bytes_;
  uint64_t fileBytes_;
  uint32_t slots_;
};

}  // namespace kvpool::client
