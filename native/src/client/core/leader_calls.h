// SPDX-License-Identifier: Apache-2.0
// The requests on their way to the leader: builds them from what batches have waiting, bounds them, and knows whom an
// answer is for.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "client/core/batch_table.h"
#include "client/core/leader_search.h"

namespace kvpool::client {

class LeaderCalls {
 public:
  enum class Step { Ask, Publish };

  struct Call {
    BatchId batch = 0;
    Step step = Step::Ask;
    OpCode op = OpCode::Get;
    std::vector<uint32_t> lines;
    Time sentAt = 0;
  };

  LeaderCalls(Context& context, BatchTable& batches, LeaderSearch& search)
      : context_(context), batches_(batches), search_(search) {}

  /// Sends what waits, as far as the leader is known, its connection stays and the bound allows.
  void pump();
  [[nodiscard]] bool empty() const { return calls_.empty(); }
  /// The call a reply answers, taken out.
  std::optional<Call> take(uint64_t request);
  /// All calls, taken out: their connection is gone.
  std::vector<Call> takeAll();

 private:
  void pump(Batch& batch);
  [[nodiscard]] bool publishIsDue(const Batch& batch) const;
  std::vector<uint32_t> takeLines(const Batch& batch, std::deque<uint32_t>& from) const;
  void send(Batch& batch, Step step, std::vector<uint32_t> lines);
  wire::Bytes encode(const Batch& batch, Step step, uint64_t request, const std::vector<uint32_t>& lines) const;
  wire::Bytes encodeGrant(const Batch& batch, uint64_t request, const std::vector<uint32_t>& lines) const;
  static wire::Bytes encodeHint(const Batch& batch, uint64_t request, std::span<const std::string_view> keys);

  Context& context_;
  BatchTable& batches_;
  LeaderSearch& search_;
  std::map<uint64_t, Call> calls_;
};

/// What every reply to a call begins with.
struct ReplyHead {
  uint64_t request = 0;
  int32_t status = 0;
  size_t lines = 0;
  uint64_t epoch = 0;  ///< 0 when the reply does not tell
};
/// Nothing when the message is no reply of a leader.
std::optional<ReplyHead> headOf(const Reply& reply);
/// Whether the reply is of the kind the call waits for.
bool fits(const LeaderCalls::Call& call, const Reply& reply);

}  // namespace kvpool::client
