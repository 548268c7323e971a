// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "node/core/actions.h"
#include "ssd/table.h"
#include "store/directory.h"

namespace kvpool::node {

/// The directory as the masters see it: numbered changes, and snapshots a piece at a time.
///
/// The number of a change is its position in this incarnation. A snapshot is taken while changes go on: a piece says
/// what is true when it is cut, a change what became true later, so a master that applies frames in their order is
/// right.
class RecordStream {
 public:
  /// `tier` may be null.
  explicit RecordStream(const store::Directory& directory, const ssd::Table* tier = nullptr)
      : directory_(directory), tier_(tier) {}

  /// The slot holds an object or a tombstone from now on.
  void committed(uint32_t slot);
  /// The slot of the SSD tier holds an object from now on.
  void tierCommitted(uint32_t slot);
  void freed(const ExtentRef& extent, const ObjectId& id);
  /// The tier is off: snapshots name nothing of it any more.
  void forgetTier() { tier_ = nullptr; }

  /// Number of the latest change, whether taken or not; 0 before the first.
  [[nodiscard]] uint64_t sequence() const { return sequence_; }

  /// The changes since the last call as frames; null when there are none.
  Frames takeChanges();

  /// How far one master's snapshot is.
  struct Cursor {
    uint32_t slot = 0;
    uint32_t tierSlot = 0;  // of the SSD tier, which comes behind the directory
    uint64_t count = 0;
    bool done = false;
    std::vector<uint32_t> damaged;  // slots that were left out, as their object's key has changed in the segment
  };
  /// The next piece as a frame of bounded size. Null, with cursor.done, when there is none.
  Frames nextPiece(Cursor& cursor) const;

 private:
  struct Record {
    store::SlotState state = store::SlotState::Free;
    ExtentRef extent;
    ObjectId objectId;
    uint64_t offset = 0;
    uint64_t extentBytes = 0;
    uint64_t payloadLength = 0;
    uint32_t payloadCrc = 0;
    Retention retention;
    std::string key;
  };
  [[nodiscard]] Record describe(uint32_t slot) const;
  [[nodiscard]] Record describeTier(uint32_t slot) const;
  static size_t room(const Record& record);
  static void append(wire::Bytes& out, bool snapshot, uint64_t sequence, const Record* records, size_t count);

  const store::Directory& directory_;
  const ssd::Table* tier_;
  uint64_t sequence_ = 0;
  std::vector<Record> changes_;
};

}  // namespace kvpool::node
