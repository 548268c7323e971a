// SPDX-License-Identifier: Apache-2.0
// A segment file of a node on this machine, mapped read-only. Its bytes are another process's: every number is checked
// before it is used.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/ids.h"
#include "base/status.h"
#include "store/layout.h"
#include "wire/protocol.h"

namespace kvpool::client {

class SegmentView {
 public:
  /// Maps the file behind `descriptor`. KV_SEGMENT_LAYOUT and the like when it is not a segment in one of `layouts`.
  static Result<std::unique_ptr<SegmentView>> map(const Fd& descriptor, uint64_t fileBytes,
                                                  const wire::VersionRange& layouts = wire::kLayoutVersions);
  ~SegmentView();
  SegmentView(const SegmentView&) = delete;
  SegmentView& operator=(const SegmentView&) = delete;

  /// Start of the payload, with its sums behind it, when the directory names exactly this object there at this moment,
  /// else null; with `crc` only if the record has that checksum. What is read from it counts only if a second look
  /// after the reading finds the same.
  [[nodiscard]] const uint8_t* find(const ExtentRef& extent, const ObjectId& object, uint64_t offset, uint64_t length,
                                    std::optional<uint32_t> crc = {});

 private:
  SegmentView(const uint8_t* bytes, uint64_t fileBytes, const wire::VersionRange& layouts)
      : bytes_(bytes), fileBytes_(fileBytes), layouts_(layouts) {}

  /// The record of a slot. Its node may have gone over to another layout since we looked at the state last.
  [[nodiscard]] std::optional<store::DirectoryRecord> intactRecord(uint32_t slot);

  const uint8_t* bytes_;
  uint64_t fileBytes_;
  wire::VersionRange layouts_;
  uint32_t slots_ = 0;
  store::RecordSeal seal_;
};

}  // namespace kvpool::client
