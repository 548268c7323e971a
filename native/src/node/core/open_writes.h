// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "base/block_sums.h"
#include "node/core/core_context.h"
#include "node/core/messages.h"
#include "node/core/written_runs.h"

namespace kvpool::node {

/// Room for objects whose writers fill it part by part. Each belongs to one connection and goes back with it; nobody
/// can read it before its writer has written all of it and said so. What one is left alone with for too long goes back
/// as well, and so does what a leader granted that is obeyed no more.
class OpenWrites {
 public:
  /// Longer than a leader lets a grant last, which is 30 s: what is open then could not be published any more.
  static constexpr uint64_t kOpenMs = 40'000;
  static constexpr size_t kOpenMax = 16'384;
  /// Runs of bytes that were written, of all open writes: some 48 bytes each.
  static constexpr size_t kRunsMax = size_t{1} << 18;
  /// They may hold so much of the segment together: 1 / kShare. One alone may be larger.
  static constexpr uint64_t kShare = 4;

  /// A payload that is whole, and its checksum.
  struct Whole {
    ConnectionId connection = 0;
    uint64_t requestId = 0;
    uint32_t slot = 0;
    Authority authority;
    uint32_t crc = 0;
  };

  explicit OpenWrites(CoreContext& context) : context_(context) {}

  /// Whether there may be one more of so many bytes: KV_QUEUE_FULL, KV_NO_SPACE.
  [[nodiscard]] Status admits(uint64_t payloadLength) const;
  /// For a slot that was just reserved.
  void add(ConnectionId connection, uint32_t slot, const Authority& authority, uint64_t nowMs);
  [[nodiscard]] bool has(ConnectionId connection) const { return owners_.contains(connection); }

  /// Whether the step may be done: KV_LEASE_EXPIRED when there is no such write on this connection, KV_BUSY while it is
  /// being committed, KV_INVALID_ARGUMENT, KV_QUEUE_FULL.
  [[nodiscard]] Status judge(ConnectionId connection, const PartsWrite& request) const;
  /// For requests that were judged. Where in the segment the parts go; nothing ends the write before endParts().
  std::vector<store::Range> beginParts(ConnectionId connection, const PartsWrite& request);
  /// They are there; or, unless `good`, what is there is unknown: then the write is given up.
  void endParts(ConnectionId connection, uint32_t slot, const std::vector<store::Range>& parts, bool good);
  /// KV_INVALID_ARGUMENT, and it is given up, when bytes were never written. Else step() says when it is whole.
  Status commit(ConnectionId connection, const PartsWrite& request);
  void abort(ConnectionId connection, uint32_t slot);

  [[nodiscard]] bool committing() const { return !committing_.empty(); }
  /// Notes sums over payloads that are to be committed, `bytesMax` for each connection. Those that are whole are open
  /// no more; their slots are still only reserved.
  std::vector<Whole> step(uint64_t bytesMax);

  void closed(ConnectionId connection);
  void tick(uint64_t nowMs);

 private:
  struct Commit {
    uint64_t requestId = 0;
    RunningSum sum;
    uint64_t summed = 0;
  };
  struct Write {
    Authority authority;
    uint64_t untilMs = 0;
    WrittenRuns runs;
    bool receiving = false;
    std::optional<Commit> commit;
  };
  struct Owner {
    std::map<uint32_t, Write> writes;  // by slot
    std::deque<uint32_t> committing;
  };

  [[nodiscard]] const Write* find(ConnectionId connection, uint32_t slot) const;
  Write& at(ConnectionId connection, uint32_t slot) { return owners_.at(connection).writes.at(slot); }
  void stepOf(ConnectionId connection, Owner& owner, uint64_t bytesMax, std::vector<Whole>& whole);
  void uncount(uint32_t slot, const Write& write);
  void forget(ConnectionId connection, uint32_t slot);

  CoreContext& context_;
  std::map<ConnectionId, Owner> owners_;
  std::vector<ConnectionId> committing_;
  size_t count_ = 0;
  size_t runs_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace kvpool::node
