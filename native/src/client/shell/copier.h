// SPDX-License-Identifier: Apache-2.0
// The copies through shared memory, done on the I/O thread in pieces, in order. Copying here costs no hand-over to
// another thread, which for small objects is more than the copy; the pieces keep sockets served while a large one runs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <variant>

#include "base/block_sums.h"
#include "client/core/actions.h"
#include "client/shell/segment_view.h"
#include "client/shell/staging_memory.h"
#include "wire/staging_offer.h"

namespace kvpool::client {

/// The memory shared with one node, named by its connection.
struct Attachment {
  std::unique_ptr<StagingMemory> staging;  // through shared memory
  std::unique_ptr<OfferedMemory> offered;  // or through UCX or CANN
  [[nodiscard]] uint8_t* stagingAt(uint64_t offset) const {
    return staging ? staging->at(offset) : offered->at(offset);
  }
  std::map<uint16_t, std::unique_ptr<SegmentView>> segments;
};

class Copier {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void copiedToStaging(ConnectionId connection, TransferId transfer, uint32_t crc) = 0;
    virtual void copiedFromSegment(ConnectionId connection, TransferId transfer, int32_t status, uint32_t crc) = 0;
  };

  explicit Copier(Listener& listener) : listener_(listener) {}

  Attachment& attachment(ConnectionId connection) { return attachments_[connection]; }
  void add(const CopyToStaging& copy) {
    jobs_.push_back({copy.connection, copy.transfer, copy, PieceCursor(copy.source), 0, 0});
  }
  void add(const CopyFromSegment& copy) {
    jobs_.push_back({copy.connection, copy.transfer, copy, PieceCursor(copy.destination), 0, 0});
  }
  void add(const CopyFromStaging& copy) {
    jobs_.push_back({copy.connection, copy.transfer, copy, PieceCursor(copy.destination), 0, 0});
  }
  void cancel(ConnectionId connection, TransferId transfer);
  /// Forgets the connection's jobs and unmaps its memory.
  void detach(ConnectionId connection);

  [[nodiscard]] bool idle() const { return jobs_.empty(); }
  /// Copies about this many bytes.
  void run(uint64_t bytes);

 private:
  /// Parts that follow each other in their object, on their way.
  struct PartsRun {
    uint64_t begin = 0;
    uint64_t end = 0;
    SummedBlocks blocks;
    uint64_t at = 0;
    uint32_t crc = 0;
  };
  struct Job {
    ConnectionId connection = 0;
    TransferId transfer = 0;
    std::variant<CopyToStaging, CopyFromSegment, CopyFromStaging> copy;
    PieceCursor at;  // in the caller's memory
    uint64_t done = 0;
    uint32_t crc = 0;
    size_t next = 0;  // of the pieces that parts go to: the first that is not in `run`
    std::optional<PartsRun> run = {};
  };

  bool stepIn(Job& job, const CopyToStaging& copy, uint64_t& budget);
  bool stepOut(Job& job, const CopyFromSegment& copy, uint64_t& budget);
  bool stepOut(Job& job, const CopyFromStaging& copy, uint64_t& budget);
  bool stepParts(Job& job, const CopyFromSegment& copy, uint64_t& budget);
  static bool advance(Job& job, const uint8_t* from, uint64_t& budget);
  static bool beginRun(Job& job, const CopyFromSegment& copy, const uint8_t* from);
  void copiedFromSegment(int32_t status, uint32_t crc);
  static void copyOut(Job& job, const uint8_t* from, uint64_t length, uint64_t& budget);
  const uint8_t* find(const CopyFromSegment& copy);

  Listener& listener_;
  std::map<ConnectionId, Attachment> attachments_;
  std::deque<Job> jobs_;
};

}  // namespace kvpool::client
