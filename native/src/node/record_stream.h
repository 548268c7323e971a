// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "node/actions.h"
#include "store/directory.h"

namespace kvpool::node {

/// The directory as the masters see it: numbered changes, and snapshots a piece at a time.
///
/// The number of a change is its position in this incarnation. A snapshot is taken while changes go on: a piece says
/// what is true when it is cut, a change what became true later, so a master that applies frames in their order is
/// right.
class RecordStream {
 public:
  explicit RecordStream(const store::Directory& directory) : directory_(directory) {}

  /// The slot holds an object or a tombstone from now on.
  void committed(uint32_t slot);
  void freed(const ExtentRef& extent, const ObjectId& id);

  /// Number of the latest change, whether taken or not; 0 before the first.
  [[nodiscard]] uint64_t sequence() const { return sequence_; }

  /// The changes since the last call as frames; null when there are none.
  Frames takeChanges();

  /// How far one master's snapshot is.
  struct Cursor {
    uint32_t slot = 0;
    uint64_t count = 0;
    bool done = false;
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
  static size_t room(const Record& record);
  static void append(wire::Bytes& out, bool snapshot, uint64_t sequence, const Record* records, size_t count);

  const store::Directory& directory_;
  uint64_t sequence_ = 0;
  std::vector<Record> changes_;
};

}  // namespace kvpool::node
