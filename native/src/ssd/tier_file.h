// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "ssd/device.h"
#include "ssd/table.h"

namespace kvpool::ssd {

inline constexpr const char* kTierFileName = "ssd-0.kvt";

/// A tier that is open for one node.
struct TierFile {
  std::unique_ptr<Device> device;
  TierHeader header{};
  bool created = false;
  bool direct = false;  // O_DIRECT; otherwise the page cache lies between
  std::string shown;    // path of the file or device
  std::vector<std::string> warnings;
};

/// Which tier a node wants.
struct TierWish {
  std::string path;  // a directory, or a block device
  uint64_t bytes = 0;
  store::SegmentIdentity identity;
  std::string timestamp;       // in names of files that are set aside
  uint32_t number = 0;         // random, not 0, of a new tier
  std::optional<SealKey> key;  // encrypts it
};

/// Opens the tier at `path`: a directory, in which it is the file ssd-0.kvt, or a block device. A file is made when
/// there is none and allocated whole, so that a full disk shows now and not later. A damaged or foreign file is renamed
/// to ssd-0.kvt.set-aside-REASON-TIMESTAMP. A device is taken when it has a tier of this node or nothing in its first
/// MiB, whole when it has less than `bytes`, and refused otherwise. With another key, with a key where there was none
/// and without one where there was, what is there is lost and a new tier takes its place. KV_SEGMENT_IN_USE (also of a
/// device that is mounted), KV_SEGMENT_LAYOUT, KV_INVALID_ARGUMENT, KV_SEGMENT_FOREIGN, KV_IO, each with a sentence.
Result<TierFile> openTier(const TierWish& wish);

/// Makes the device the empty tier of this header, which is changed to what is there then. Whatever an earlier tier
/// left there counts no more, if the header begins with its sequence; a crash leaves the one or the other.
Status formatTier(Device& device, TierHeader& header);

/// Reads the table from the device. KV_IO when that fails.
Result<TierRecovery> loadTable(Device& device, Table& table, const Table::FateOf& fateOf);

}  // namespace kvpool::ssd
