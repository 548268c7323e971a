// SPDX-License-Identifier: Apache-2.0
// All batches in flight: admits them, keeps what must wait, ends lines and batches.
#pragma once

#include <map>
#include <queue>
#include <vector>

#include "client/core/batch.h"
#include "client/core/context.h"

namespace kvpool::client {

class BatchTable {
 public:
  explicit BatchTable(Context& context) : context_(context) {}

  /// Lines that cannot be right (key, refusal) end at once; equal keys that change something are chained.
  Batch& admit(Submission submission);
  Batch* find(BatchId id);
  [[nodiscard]] bool empty() const { return batches_.empty(); }
  [[nodiscard]] std::map<BatchId, Batch>& all() { return batches_; }

  void ask(Batch& batch, uint32_t line) { batch.toAsk.push_back(line); }
  /// Asks again after a backoff; `obstacle` is what the line ends with should its time run out first.
  void askLater(Batch& batch, uint32_t line, int32_t obstacle) { delay(batch, line, obstacle, false); }
  void publish(Batch& batch, uint32_t line);
  void publishLater(Batch& batch, uint32_t line, int32_t obstacle) { delay(batch, line, obstacle, true); }
  void end(Batch& batch, uint32_t line, int32_t status, uint64_t length = 0);

  /// Puts the lines whose backoff is over back into line.
  void wakeDelayed();
  /// Hands finished batches to the shell and forgets them. References to them end here.
  void sweep();

 private:
  struct Delayed {
    Time at = 0;
    BatchId batch = 0;
    uint32_t line = 0;
    bool publishes = false;
    bool operator>(const Delayed& other) const { return at > other.at; }
  };

  void chainEqualKeys(Batch& batch);
  void begin(Batch& batch, uint32_t line);
  void delay(Batch& batch, uint32_t line, int32_t obstacle, bool publishes);

  Context& context_;
  std::map<BatchId, Batch> batches_;
  std::priority_queue<Delayed, std::vector<Delayed>, std::greater<>> delayed_;
};

}  // namespace kvpool::client
