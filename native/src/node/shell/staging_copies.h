// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/block_sums.h"
#include "node/core/actions.h"
#include "store/mapping.h"

namespace kvpool::node {

/// The staging memories that clients share, and the payloads on their way from there into the segment: a bounded part
/// of them in a turn, so that all connections get theirs.
class StagingCopies {
 public:
  static constexpr uint64_t kTurnBytes = uint64_t{1} << 20;

  using Copied = std::function<void(ConnectionId connection, uint32_t computed, uint32_t expected)>;

  explicit StagingCopies(std::span<uint8_t> segment) : segment_(segment) {}

  void attach(ConnectionId connection, store::Mapping memory) { memories_[connection] = std::move(memory); }
  void forget(ConnectionId connection);

  /// Copies at once what still fits into this turn, and returns its checksum. The rest comes with the next turns, one
  /// payload of a connection at a time.
  std::optional<uint32_t> copy(const CopyStaging& wanted);
  std::optional<uint32_t> copy(const CopyStagingParts& wanted);
  /// Begins a turn; tells what is whole by now.
  void turn(const Copied& copied);
  [[nodiscard]] bool idle() const { return waiting_.empty(); }

 private:
  struct Copy {
    uint64_t from = 0;
    store::Range to;                  // what is left of the part that is being filled
    uint64_t left = 0;                // of all
    std::vector<store::Range> parts;  // behind that one
    size_t next = 0;                  // of them
    RunningSum sum;
    uint32_t expected = 0;
  };
  std::optional<uint32_t> begin(ConnectionId connection, Copy copy);
  void advance(ConnectionId connection, Copy& copy, uint64_t bytes);

  std::span<uint8_t> segment_;
  std::unordered_map<ConnectionId, store::Mapping> memories_;
  std::map<ConnectionId, Copy> waiting_;
  uint64_t leftOfTurn_ = kTurnBytes;
};

}  // namespace kvpool::node
