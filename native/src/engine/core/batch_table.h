// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/actions.h"
#include "engine/core/messages.h"
#include "kvpool/engine.h"

namespace kvpool::engine {

enum class TransferOp : int32_t {
  Write = KV_TRANSFER_WRITE,
  Read = KV_TRANSFER_READ,
  Probe = KV_TRANSFER_PROBE,
  Connect = KV_TRANSFER_CONNECT,
};

/// What a caller wants of one line.
struct Line {
  std::string peer;
  uint8_t* local = nullptr;
  uint64_t remote = 0;
  uint64_t length = 0;
};

struct Submission {
  BatchId id = 0;
  TransferOp op = TransferOp::Write;
  Time deadline = 0;
  std::vector<Line> lines;
  std::shared_ptr<const Notification> notify;  // null: none
};

/// The lines of one batch that go to one peer.
struct PeerLines {
  std::string peer;  // HOST:PORT in the form of toString(HostPort)
  std::vector<uint32_t> lines;
};

/// Batches and what became of their lines. A batch is done when each of its peers is.
class BatchTable {
 public:
  /// Judges the lines; those that cannot be transferred get their status here. Returns the others by peer.
  std::vector<PeerLines> add(Submission submission);

  [[nodiscard]] bool has(BatchId id) const { return batches_.contains(id); }
  [[nodiscard]] const Submission& submission(BatchId id) const { return batches_.at(id).submission; }
  void settle(BatchId id, uint32_t line, int32_t status) { batches_.at(id).statuses[line] = status; }
  /// One peer of the batch is through. The batch's end, when it was the last one.
  [[nodiscard]] std::optional<FinishBatch> peerDone(BatchId id);
  /// The end of a batch that has no peers, if it is one.
  [[nodiscard]] std::optional<FinishBatch> ifEmpty(BatchId id);
  /// Ends a batch now: lines without a status get this one.
  [[nodiscard]] FinishBatch end(BatchId id, int32_t status);

  /// Those whose deadline has passed.
  [[nodiscard]] std::vector<BatchId> expired(Time now) const;
  [[nodiscard]] std::vector<BatchId> all() const;
  [[nodiscard]] bool empty() const { return batches_.empty(); }

 private:
  struct Batch {
    Submission submission;
    std::vector<int32_t> statuses;
    size_t peersLeft = 0;
  };
  FinishBatch finish(std::map<BatchId, Batch>::iterator batch);

  std::map<BatchId, Batch> batches_;
};

}  // namespace kvpool::engine
