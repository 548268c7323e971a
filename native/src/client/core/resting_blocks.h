// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "client/core/actions.h"

namespace kvpool::client {

/// Memory that nodes reach by CANN, between two connections that it is lent to. The first may have ended before its
/// node learns of it, or while CANN moves bytes for it: the memory rests for longer than a node, whose timeouts are
/// taken to be ours, gives a transfer, the end of its channel and its card, which may repeat what was not answered.
class RestingBlocks {
 public:
  struct Block {
    uint8_t* at = nullptr;
    uint64_t bytes = 0;
  };

  /// How long a node may take to learn that a connection has ended, and then for the end of a channel.
  static constexpr Time kLearnMs = 10000;

  /// `patienceMs`: within which a transfer ends, with the channel that it may need first.
  RestingBlocks(Time patienceMs, Time cardRepeatsMs) : restMs_(patienceMs + cardRepeatsMs + kLearnMs) {}

  [[nodiscard]] Time restMs() const { return restMs_; }
  void rest(const Block& block, Time now) { blocks_.push_back({block, now + restMs_}); }
  /// The one that has rested longest. Nothing when it has not rested for long enough, or has another size.
  std::optional<Block> take(uint64_t bytes, Time now) {
    if (blocks_.empty() || blocks_.front().until > now || blocks_.front().block.bytes != bytes) return std::nullopt;
    const Block block = blocks_.front().block;
    blocks_.pop_front();
    return block;
  }

 private:
  struct Resting {
    Block block;
    Time until = 0;
  };

  const Time restMs_;
  std::deque<Resting> blocks_;
};

}  // namespace kvpool::client
