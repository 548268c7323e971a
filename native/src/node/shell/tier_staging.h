// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "node/core/actions.h"
#include "store/allocator.h"

namespace kvpool::node {

/// Memory that the transport of the clients moves from, for what the SSD reads and clients take: who has which part of
/// it, and who waits for one. Parts are whole blocks, as a device reads them. Knows neither the transport nor the SSD.
class TierStaging {
 public:
  /// Of the memory, at least.
  static constexpr uint64_t kBytes = uint64_t{128} << 20;
  /// One connection may hold this part of what is left: a client that hangs leaves room for others. One that holds
  /// nothing gets all that it asks for, when it is there.
  static constexpr uint64_t kShareOfRest = 3;

  /// Begins and ends at multiples of blocks.
  explicit TierStaging(std::span<uint8_t> memory) : memory_(memory), free_(0, memory.size()) {}

  void ask(const TakeStaging& wanted);
  /// Those that waited get nothing; those that are taken are held until they are released.
  void leave(ConnectionId connection);
  /// Nothing moves there any more. Nothing happens for a transfer that has none.
  void release(uint64_t transfer);
  /// The part of a transfer, in whole blocks.
  [[nodiscard]] std::span<uint8_t> of(uint64_t transfer) const;

  struct Answer {
    uint64_t transfer = 0;
    bool good = false;
  };
  /// To what was asked for, once each.
  [[nodiscard]] std::vector<Answer> takeAnswers();

 private:
  struct Held {
    ConnectionId connection = 0;
    store::Range range;
  };

  std::span<uint8_t> memory_;
  store::Allocator free_;
  std::deque<TakeStaging> waiting_;  // in the order in which they asked
  std::vector<Answer> refused_;
  std::unordered_map<uint64_t, Held> held_;
  std::unordered_map<ConnectionId, uint64_t> heldBytes_;
};

}  // namespace kvpool::node
